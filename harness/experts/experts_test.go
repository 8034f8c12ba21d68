package experts

// The price list that the tests of this package read.

const priceFile = "../../experiments/prices/paper-novita.yaml"
