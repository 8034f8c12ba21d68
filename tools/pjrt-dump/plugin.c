// A PJRT plugin that computes nothing: it writes every program that it is to compile into the folder that the environment
// variable ENTROROUTER_PROGRAMS names, as 0001.mlir and so on, and answers that it has. With a library name that holds "cuda",
// go-xla writes the program that it would give to a CUDA card. Buffers have a shape and no content, so a model of any
// size takes no memory.

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pjrt_c_api.h"

// What the opaque types of the C interface are here. There is one device; whoever creates anything else destroys it.

struct PJRT_Error {
  PJRT_Error_Code code;
  char message[512];
};

struct PJRT_DeviceDescription {
  const char* text;
};

struct PJRT_Device {
  PJRT_DeviceDescription description;
};

struct PJRT_Client {
  PJRT_Device device;
  PJRT_Device* devices[1];
};

struct PJRT_Buffer {
  PJRT_Device* device;
  PJRT_Buffer_Type type;
  size_t num_dims;
  int64_t dims[];
};

struct PJRT_Event {
  char unused;
};

// If even the error cannot be allocated, the caller hears of no error and finds no result.
static PJRT_Error* fail(PJRT_Error_Code code, const char* message, const char* detail) {
  PJRT_Error* error = malloc(sizeof *error);
  if (error != NULL) {
    error->code = code;
    snprintf(error->message, sizeof error->message, "%s%s", message, detail);
  }
  return error;
}

static PJRT_Error* out_of_memory(void) { return fail(PJRT_Error_Code_RESOURCE_EXHAUSTED, "out of memory", ""); }

// Stands where a function is that a program is not needed for.
static PJRT_Error* unimplemented(void* args) {
  (void)args;
  return fail(PJRT_Error_Code_UNIMPLEMENTED, "the plugin of tools/pjrt-dump writes programs and computes nothing", "");
}

static void error_destroy(PJRT_Error_Destroy_Args* args) { free(args->error); }

static void error_message(PJRT_Error_Message_Args* args) {
  args->message = args->error->message;
  args->message_size = strlen(args->error->message);
}

static PJRT_Error* error_get_code(PJRT_Error_GetCode_Args* args) {
  args->code = args->error->code;
  return NULL;
}

static PJRT_Error* plugin_initialize(PJRT_Plugin_Initialize_Args* args) {
  (void)args;
  return NULL;
}

static PJRT_Error* plugin_attributes(PJRT_Plugin_Attributes_Args* args) {
  args->attributes = NULL;
  args->num_attributes = 0;
  return NULL;
}

static PJRT_Error* event_destroy(PJRT_Event_Destroy_Args* args) {
  free(args->event);
  return NULL;
}

static PJRT_Error* event_await(PJRT_Event_Await_Args* args) {
  (void)args;
  return NULL;
}

static PJRT_Error* client_create(PJRT_Client_Create_Args* args) {
  PJRT_Client* client = malloc(sizeof *client);
  if (client == NULL) return out_of_memory();
  client->device.description.text = "a device that programs are written for";
  client->devices[0] = &client->device;
  args->client = client;
  return NULL;
}

static PJRT_Error* client_destroy(PJRT_Client_Destroy_Args* args) {
  free(args->client);
  return NULL;
}

static PJRT_Error* client_platform_name(PJRT_Client_PlatformName_Args* args) {
  args->platform_name = "programs";
  args->platform_name_size = strlen(args->platform_name);
  return NULL;
}

static PJRT_Error* client_platform_version(PJRT_Client_PlatformVersion_Args* args) {
  args->platform_version = "1";
  args->platform_version_size = strlen(args->platform_version);
  return NULL;
}

static PJRT_Error* client_process_index(PJRT_Client_ProcessIndex_Args* args) {
  args->process_index = 0;
  return NULL;
}

static PJRT_Error* client_devices(PJRT_Client_Devices_Args* args) {
  args->devices = args->client->devices;
  args->num_devices = 1;
  return NULL;
}

static PJRT_Error* client_addressable_devices(PJRT_Client_AddressableDevices_Args* args) {
  args->addressable_devices = args->client->devices;
  args->num_addressable_devices = 1;
  return NULL;
}

static PJRT_Error* device_get_description(PJRT_Device_GetDescription_Args* args) {
  args->device_description = &args->device->description;
  return NULL;
}

static PJRT_Error* device_is_addressable(PJRT_Device_IsAddressable_Args* args) {
  args->is_addressable = true;
  return NULL;
}

static PJRT_Error* device_local_hardware_id(PJRT_Device_LocalHardwareId_Args* args) {
  args->local_hardware_id = 0;
  return NULL;
}

static PJRT_Error* description_process_index(PJRT_DeviceDescription_ProcessIndex_Args* args) {
  args->process_index = 0;
  return NULL;
}

static PJRT_Error* description_debug_string(PJRT_DeviceDescription_DebugString_Args* args) {
  args->debug_string = args->device_description->text;
  args->debug_string_size = strlen(args->debug_string);
  return NULL;
}

static PJRT_Error* client_compile(PJRT_Client_Compile_Args* args) {
  static atomic_int count;
  const char* folder = getenv("ENTROROUTER_PROGRAMS");
  if (folder == NULL) {
    return fail(PJRT_Error_Code_FAILED_PRECONDITION, "ENTROROUTER_PROGRAMS names no folder for programs", "");
  }
  char path[4096];
  if (snprintf(path, sizeof path, "%s/%04d.mlir", folder, atomic_fetch_add(&count, 1) + 1) >= (int)sizeof path) {
    return fail(PJRT_Error_Code_INVALID_ARGUMENT, "the name of the folder for programs is too long", "");
  }
  FILE* file = fopen(path, "wb");
  if (file == NULL) return fail(PJRT_Error_Code_NOT_FOUND, "cannot write ", path);
  bool written = fwrite(args->program->code, 1, args->program->code_size, file) == args->program->code_size;
  if (fclose(file) != 0 || !written) return fail(PJRT_Error_Code_RESOURCE_EXHAUSTED, "cannot write all of ", path);
  return fail(PJRT_Error_Code_CANCELLED, "program written to ", path);
}

static PJRT_Error* client_buffer_from_host_buffer(PJRT_Client_BufferFromHostBuffer_Args* args) {
  PJRT_Buffer* buffer = malloc(sizeof *buffer + args->num_dims * sizeof buffer->dims[0]);
  PJRT_Event* event = malloc(sizeof *event);
  if (buffer == NULL || event == NULL) {
    free(buffer);
    free(event);
    return out_of_memory();
  }
  buffer->device = args->client->devices[0];
  buffer->type = args->type;
  buffer->num_dims = args->num_dims;
  if (args->num_dims > 0) memcpy(buffer->dims, args->dims, args->num_dims * sizeof buffer->dims[0]);
  args->buffer = buffer;
  args->done_with_host_buffer = event;
  return NULL;
}

static PJRT_Error* buffer_destroy(PJRT_Buffer_Destroy_Args* args) {
  free(args->buffer);
  return NULL;
}

static PJRT_Error* buffer_element_type(PJRT_Buffer_ElementType_Args* args) {
  args->type = args->buffer->type;
  return NULL;
}

static PJRT_Error* buffer_dimensions(PJRT_Buffer_Dimensions_Args* args) {
  args->dims = args->buffer->dims;
  args->num_dims = args->buffer->num_dims;
  return NULL;
}

static PJRT_Error* buffer_device(PJRT_Buffer_Device_Args* args) {
  args->device = args->buffer->device;
  return NULL;
}

__attribute__((visibility("default"))) const PJRT_Api* GetPjrtApi(void) {
  static PJRT_Api api;
  if (api.struct_size != 0) return &api;
  // The header ends with functions alone; what is not set below answers that it is lacking.
  PJRT_Error* (**slot)(void*) = (PJRT_Error * (**)(void*)) & api.PJRT_Error_Destroy;
  for (; (char*)slot < (char*)(&api + 1); slot++) *slot = unimplemented;
  api.pjrt_api_version.struct_size = PJRT_Api_Version_STRUCT_SIZE;
  api.pjrt_api_version.major_version = PJRT_API_MAJOR;
  api.pjrt_api_version.minor_version = PJRT_API_MINOR;
  api.PJRT_Error_Destroy = error_destroy;
  api.PJRT_Error_Message = error_message;
  api.PJRT_Error_GetCode = error_get_code;
  api.PJRT_Plugin_Initialize = plugin_initialize;
  api.PJRT_Plugin_Attributes = plugin_attributes;
  api.PJRT_Event_Destroy = event_destroy;
  api.PJRT_Event_Await = event_await;
  api.PJRT_Client_Create = client_create;
  api.PJRT_Client_Destroy = client_destroy;
  api.PJRT_Client_PlatformName = client_platform_name;
  api.PJRT_Client_PlatformVersion = client_platform_version;
  api.PJRT_Client_ProcessIndex = client_process_index;
  api.PJRT_Client_Devices = client_devices;
  api.PJRT_Client_AddressableDevices = client_addressable_devices;
  api.PJRT_Client_Compile = client_compile;
  api.PJRT_Client_BufferFromHostBuffer = client_buffer_from_host_buffer;
  api.PJRT_Device_GetDescription = device_get_description;
  api.PJRT_Device_IsAddressable = device_is_addressable;
  api.PJRT_Device_LocalHardwareId = device_local_hardware_id;
  api.PJRT_DeviceDescription_ProcessIndex = description_process_index;
  api.PJRT_DeviceDescription_DebugString = description_debug_string;
  api.PJRT_Buffer_Destroy = buffer_destroy;
  api.PJRT_Buffer_ElementType = buffer_element_type;
  api.PJRT_Buffer_Dimensions = buffer_dimensions;
  api.PJRT_Buffer_Device = buffer_device;
  api.struct_size = PJRT_Api_STRUCT_SIZE;
  return &api;
}
