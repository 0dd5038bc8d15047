/// A library with the functions that heddle loads from cuDSS. All but the version do nothing.
extern "C" {
#define HEDDLE_NOTHING(name) \
  int name() { return 0; }
HEDDLE_NOTHING(cudssCreate)
HEDDLE_NOTHING(cudssDestroy)
HEDDLE_NOTHING(cudssSetStream)
HEDDLE_NOTHING(cudssSetDeviceMemHandler)
HEDDLE_NOTHING(cudssConfigCreate)
HEDDLE_NOTHING(cudssConfigDestroy)
HEDDLE_NOTHING(cudssConfigSet)
HEDDLE_NOTHING(cudssDataCreate)
HEDDLE_NOTHING(cudssDataDestroy)
HEDDLE_NOTHING(cudssDataGet)
HEDDLE_NOTHING(cudssDataSet)
HEDDLE_NOTHING(cudssExecute)
HEDDLE_NOTHING(cudssMatrixCreateDn)
HEDDLE_NOTHING(cudssMatrixCreateCsr)
HEDDLE_NOTHING(cudssMatrixDestroy)
HEDDLE_NOTHING(cudssSetThreadingLayer)
#undef HEDDLE_NOTHING

int cudssGetProperty(int property, int* value) {
  const int version[3] = {FAKE_CUDSS_VERSION};
  *value = version[property];
  return 0;
}
}
