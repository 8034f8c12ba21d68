//go:build !unix || solaris || aix

// Locks and folders where the system has no advisory locks.

package store

import "os"

// lockFile does nothing: systems without flock are not protected against two processes that make the same entry at
// once. The rename at the end still leaves one of the two, whole.
func lockFile(*os.File) error { return nil }

// syncDir does nothing where folders cannot be synced.
func syncDir(string) error { return nil }
