// A PJRT plugin that computes on the CPU. It fills the table of C functions that PJRT clients call, as far as go-xla calls
// it, with calls of XLA's C++ client in libtensorflow_cc. One device; executions have ended when Execute returns.
//
// Every object that is handed out is owned by the caller until its Destroy. Buffers and executables keep the client
// alive: a garbage collector may destroy them after it.

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "pjrt_c_api.h"
#include "xla/hlo/builder/xla_computation.h"
#include "xla/pjrt/pjrt_client.h"
#include "xla/pjrt/pjrt_executable.h"
#include "xla/pjrt/plugin/xla_cpu/xla_cpu_pjrt_client.h"
#include "xla/shape_util.h"

namespace xla {
// Declared in a header that needs all of MLIR.
absl::Status ParseMlirModuleStringAndConvertToXlaComputation(absl::string_view module, XlaComputation& computation,
                                                             bool use_tuple_args, bool return_tuple);
}  // namespace xla

// What the opaque types of the C interface are here.

struct PJRT_Error {
  absl::Status status;
};

struct PJRT_Event {
  xla::Future<> future;
};

struct PJRT_DeviceDescription {
  const xla::PjRtDeviceDescription* description;
};

struct PJRT_Device {
  xla::PjRtDevice* device;
  PJRT_DeviceDescription description;
  xla::PjRtMemorySpace* memory;
};

struct State {
  std::unique_ptr<xla::PjRtClient> client;
  PJRT_Device device;
  PJRT_Device* devices[1];  // the list of one that is asked for
  std::string platform, version;
};

struct PJRT_Client {
  std::shared_ptr<State> state;
};

struct PJRT_Buffer {
  std::shared_ptr<State> state;  // outlives the buffer
  std::unique_ptr<xla::PjRtBuffer> buffer;
};

// A program is the same for those who look at it and those who run it.
struct Program {
  std::shared_ptr<State> state;  // outlives the executable
  std::unique_ptr<xla::PjRtLoadedExecutable> executable;
  std::string name;
  size_t outputs;
};

struct PJRT_LoadedExecutable {
  std::shared_ptr<Program> program;
};

struct PJRT_Executable {
  std::shared_ptr<Program> program;
};

namespace {

// Errors. A null pointer is success.

PJRT_Error* Result(absl::Status status) { return status.ok() ? nullptr : new PJRT_Error{std::move(status)}; }

#define RETURN_IF_ERROR(status)                            \
  if (PJRT_Error* error = Result(status); error != nullptr) { \
    return error;                                          \
  }

void ErrorDestroy(PJRT_Error_Destroy_Args* args) { delete args->error; }

void ErrorMessage(PJRT_Error_Message_Args* args) {
  absl::string_view message = args->error->status.message();
  args->message = message.data();
  args->message_size = message.size();
}

PJRT_Error* ErrorGetCode(PJRT_Error_GetCode_Args* args) {
  args->code = static_cast<PJRT_Error_Code>(args->error->status.code());  // both are the codes of gRPC
  return nullptr;
}

// Stands where a function is that go-xla does not need.
PJRT_Error* Unimplemented(void*) {
  return Result(absl::UnimplementedError("the CPU plugin of tools/pjrt-cpu lacks this function of PJRT"));
}

// Types of elements.

constexpr std::array<std::pair<PJRT_Buffer_Type, xla::PrimitiveType>, 15> kTypes{{
    {PJRT_Buffer_Type_PRED, xla::PRED},
    {PJRT_Buffer_Type_S8, xla::S8},
    {PJRT_Buffer_Type_S16, xla::S16},
    {PJRT_Buffer_Type_S32, xla::S32},
    {PJRT_Buffer_Type_S64, xla::S64},
    {PJRT_Buffer_Type_U8, xla::U8},
    {PJRT_Buffer_Type_U16, xla::U16},
    {PJRT_Buffer_Type_U32, xla::U32},
    {PJRT_Buffer_Type_U64, xla::U64},
    {PJRT_Buffer_Type_F16, xla::F16},
    {PJRT_Buffer_Type_F32, xla::F32},
    {PJRT_Buffer_Type_F64, xla::F64},
    {PJRT_Buffer_Type_BF16, xla::BF16},
    {PJRT_Buffer_Type_C64, xla::C64},
    {PJRT_Buffer_Type_C128, xla::C128},
}};

absl::StatusOr<xla::PrimitiveType> ToXla(PJRT_Buffer_Type type) {
  for (const auto& [ours, theirs] : kTypes) {
    if (ours == type) return theirs;
  }
  return absl::UnimplementedError("the CPU plugin does not know element type " + std::to_string(type) + " of PJRT");
}

absl::StatusOr<PJRT_Buffer_Type> FromXla(xla::PrimitiveType type) {
  for (const auto& [ours, theirs] : kTypes) {
    if (theirs == type) return ours;
  }
  return absl::UnimplementedError("the CPU plugin does not know element type " + std::to_string(type) + " of XLA");
}

// The plugin and its events.

PJRT_Error* PluginInitialize(PJRT_Plugin_Initialize_Args*) { return nullptr; }

PJRT_Error* PluginAttributes(PJRT_Plugin_Attributes_Args* args) {
  args->attributes = nullptr;
  args->num_attributes = 0;
  return nullptr;
}

PJRT_Error* EventDestroy(PJRT_Event_Destroy_Args* args) {
  delete args->event;
  return nullptr;
}

PJRT_Error* EventAwait(PJRT_Event_Await_Args* args) { return Result(args->event->future.Await()); }

// The client and its device.

// Options are those of a GPU's allocator, if any: they are ignored, so that the plugin can stand in under a GPU's name.
PJRT_Error* ClientCreate(PJRT_Client_Create_Args* args) {
  xla::CpuClientOptions options;
  options.cpu_device_count = 1;
  auto client = xla::GetXlaPjrtCpuClient(std::move(options));
  RETURN_IF_ERROR(client.status());
  auto state = std::make_shared<State>();
  state->client = *std::move(client);
  state->platform = std::string(state->client->platform_name());
  state->version = std::string(state->client->platform_version());
  xla::PjRtDevice* device = state->client->addressable_devices()[0];
  auto memory = device->default_memory_space();
  RETURN_IF_ERROR(memory.status());
  state->device = {device, {&device->description()}, *memory};
  state->devices[0] = &state->device;
  args->client = new PJRT_Client{std::move(state)};
  return nullptr;
}

PJRT_Error* ClientDestroy(PJRT_Client_Destroy_Args* args) {
  delete args->client;
  return nullptr;
}

PJRT_Error* ClientPlatformName(PJRT_Client_PlatformName_Args* args) {
  const std::string& name = args->client->state->platform;
  args->platform_name = name.data();
  args->platform_name_size = name.size();
  return nullptr;
}

PJRT_Error* ClientPlatformVersion(PJRT_Client_PlatformVersion_Args* args) {
  const std::string& version = args->client->state->version;
  args->platform_version = version.data();
  args->platform_version_size = version.size();
  return nullptr;
}

PJRT_Error* ClientProcessIndex(PJRT_Client_ProcessIndex_Args* args) {
  args->process_index = args->client->state->client->process_index();
  return nullptr;
}

PJRT_Error* ClientDevices(PJRT_Client_Devices_Args* args) {
  args->devices = args->client->state->devices;
  args->num_devices = 1;
  return nullptr;
}

PJRT_Error* ClientAddressableDevices(PJRT_Client_AddressableDevices_Args* args) {
  args->addressable_devices = args->client->state->devices;
  args->num_addressable_devices = 1;
  return nullptr;
}

PJRT_Error* ClientDefaultDeviceAssignment(PJRT_Client_DefaultDeviceAssignment_Args* args) {
  if (args->num_replicas != 1 || args->num_partitions != 1 || args->default_assignment_size < 1) {
    return Result(absl::InvalidArgumentError("the CPU plugin has one device"));
  }
  args->default_assignment[0] = args->client->state->device.device->global_device_id().value();
  return nullptr;
}

PJRT_Error* DeviceGetDescription(PJRT_Device_GetDescription_Args* args) {
  args->device_description = &args->device->description;
  return nullptr;
}

PJRT_Error* DeviceIsAddressable(PJRT_Device_IsAddressable_Args* args) {
  args->is_addressable = args->device->device->IsAddressable();
  return nullptr;
}

PJRT_Error* DeviceLocalHardwareId(PJRT_Device_LocalHardwareId_Args* args) {
  args->local_hardware_id = args->device->device->local_hardware_id().value();
  return nullptr;
}

PJRT_Error* DescriptionProcessIndex(PJRT_DeviceDescription_ProcessIndex_Args* args) {
  args->process_index = args->device_description->description->process_index();
  return nullptr;
}

PJRT_Error* DescriptionDebugString(PJRT_DeviceDescription_DebugString_Args* args) {
  absl::string_view text = args->device_description->description->DebugString();
  args->debug_string = text.data();
  args->debug_string_size = text.size();
  return nullptr;
}

// Programs.

PJRT_Error* ClientCompile(PJRT_Client_Compile_Args* args) {
  const std::shared_ptr<State>& state = args->client->state;
  absl::string_view format(args->program->format, args->program->format_size);
  if (format != "mlir") {
    return Result(absl::UnimplementedError("the CPU plugin compiles programs of format mlir, this one is " + std::string(format)));
  }
  xla::XlaComputation computation;
  RETURN_IF_ERROR(xla::ParseMlirModuleStringAndConvertToXlaComputation({args->program->code, args->program->code_size},
                                                                       computation, /*use_tuple_args=*/false,
                                                                       /*return_tuple=*/false));
  auto shape = computation.GetProgramShape();
  RETURN_IF_ERROR(shape.status());
  xla::CompileOptionsProto proto;
  if (!proto.ParseFromArray(args->compile_options, static_cast<int>(args->compile_options_size))) {
    return Result(absl::InvalidArgumentError("the compile options are no CompileOptionsProto"));
  }
  auto options = xla::CompileOptions::FromProto(proto);
  RETURN_IF_ERROR(options.status());
  auto executable = state->client->CompileAndLoad(computation, *std::move(options));
  RETURN_IF_ERROR(executable.status());

  auto program = std::make_shared<Program>();
  program->state = state;
  program->executable = *std::move(executable);
  program->name = std::string(program->executable->name());
  program->outputs = shape->result().IsTuple() ? shape->result().tuple_shapes().size() : 1;
  args->executable = new PJRT_LoadedExecutable{std::move(program)};
  return nullptr;
}

PJRT_Error* LoadedExecutableGetExecutable(PJRT_LoadedExecutable_GetExecutable_Args* args) {
  args->executable = new PJRT_Executable{args->loaded_executable->program};
  return nullptr;
}

PJRT_Error* LoadedExecutableDestroy(PJRT_LoadedExecutable_Destroy_Args* args) {
  delete args->executable;
  return nullptr;
}

PJRT_Error* ExecutableDestroy(PJRT_Executable_Destroy_Args* args) {
  delete args->executable;
  return nullptr;
}

PJRT_Error* ExecutableName(PJRT_Executable_Name_Args* args) {
  const std::string& name = args->executable->program->name;
  args->executable_name = name.data();
  args->executable_name_size = name.size();
  return nullptr;
}

PJRT_Error* ExecutableNumOutputs(PJRT_Executable_NumOutputs_Args* args) {
  args->num_outputs = args->executable->program->outputs;
  return nullptr;
}

PJRT_Error* ExecutableGetCompiledMemoryStats(PJRT_Executable_GetCompiledMemoryStats_Args* args) {
  auto stats = args->executable->program->executable->GetCompiledMemoryStats();
  RETURN_IF_ERROR(stats.status());
  args->generated_code_size_in_bytes = stats->generated_code_size_in_bytes;
  args->argument_size_in_bytes = stats->argument_size_in_bytes;
  args->output_size_in_bytes = stats->output_size_in_bytes;
  args->alias_size_in_bytes = stats->alias_size_in_bytes;
  args->temp_size_in_bytes = stats->temp_size_in_bytes;
  args->host_generated_code_size_in_bytes = stats->host_generated_code_size_in_bytes;
  args->host_argument_size_in_bytes = stats->host_argument_size_in_bytes;
  args->host_output_size_in_bytes = stats->host_output_size_in_bytes;
  args->host_alias_size_in_bytes = stats->host_alias_size_in_bytes;
  args->host_temp_size_in_bytes = stats->host_temp_size_in_bytes;
  return nullptr;
}

PJRT_Error* LoadedExecutableExecute(PJRT_LoadedExecutable_Execute_Args* args) {
  if (args->num_devices != 1) {
    return Result(absl::InvalidArgumentError("the CPU plugin has one device"));
  }
  const Program& program = *args->executable->program;
  std::vector<xla::PjRtBuffer*> inputs(args->num_args);
  for (size_t i = 0; i < inputs.size(); ++i) {
    inputs[i] = args->argument_lists[0][i]->buffer.get();
  }
  xla::ExecuteOptions options;
  options.execution_mode = xla::ExecuteOptions::ExecutionMode::kSynchronous;
  const int64_t* kept = args->options->non_donatable_input_indices;
  options.non_donatable_input_indices.insert(kept, kept + args->options->num_non_donatable_input_indices);

  // A portable executable is compiled for no device and is told here where it runs.
  std::vector<std::unique_ptr<xla::PjRtBuffer>> outputs;
  if (args->execute_device != nullptr) {
    std::optional<xla::Future<>> ended;
    auto found = program.executable->ExecutePortable(inputs, args->execute_device->device, options, ended,
                                                     /*fill_future=*/false);
    RETURN_IF_ERROR(found.status());
    outputs = *std::move(found);
  } else {
    std::vector<std::vector<xla::PjRtBuffer*>> of_device{std::move(inputs)};
    auto found = program.executable->Execute(of_device, options);
    RETURN_IF_ERROR(found.status());
    outputs = std::move(found->front());
  }
  for (const auto& output : outputs) {
    RETURN_IF_ERROR(output->GetReadyFuture().Await());
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    args->output_lists[0][i] = new PJRT_Buffer{program.state, std::move(outputs[i])};
  }
  if (args->device_complete_events != nullptr) {
    args->device_complete_events[0] = new PJRT_Event{xla::Future<>(absl::OkStatus())};
  }
  return nullptr;
}

// Buffers: dense, the last axis varies fastest.

PJRT_Error* ClientBufferFromHostBuffer(PJRT_Client_BufferFromHostBuffer_Args* args) {
  const std::shared_ptr<State>& state = args->client->state;
  if (args->num_byte_strides != 0) {
    return Result(absl::UnimplementedError("the CPU plugin takes dense buffers only"));
  }
  auto type = ToXla(args->type);
  RETURN_IF_ERROR(type.status());
  auto buffer = state->client->BufferFromHostBuffer(
      args->data, *type, absl::MakeConstSpan(args->dims, args->num_dims), /*byte_strides=*/std::nullopt,
      xla::PjRtClient::HostBufferSemantics::kImmutableOnlyDuringCall, /*on_done_with_host_buffer=*/[] {},
      state->device.memory, /*device_layout=*/nullptr);
  RETURN_IF_ERROR(buffer.status());
  args->buffer = new PJRT_Buffer{state, *std::move(buffer)};
  args->done_with_host_buffer = new PJRT_Event{xla::Future<>(absl::OkStatus())};
  return nullptr;
}

PJRT_Error* ClientCreateViewOfDeviceBuffer(PJRT_Client_CreateViewOfDeviceBuffer_Args* args) {
  const std::shared_ptr<State>& state = args->client->state;
  auto type = ToXla(args->element_type);
  RETURN_IF_ERROR(type.status());
  auto released = [done = args->on_delete_callback, data = args->device_buffer_ptr, arg = args->on_delete_callback_arg] {
    if (done != nullptr) done(data, arg);
  };
  auto shape = xla::ShapeUtil::MakeShape(*type, absl::MakeConstSpan(args->dims, args->num_dims));
  auto buffer = state->client->CreateViewOfDeviceBuffer(args->device_buffer_ptr, shape, state->device.memory, released);
  RETURN_IF_ERROR(buffer.status());
  args->buffer = new PJRT_Buffer{state, *std::move(buffer)};
  return nullptr;
}

PJRT_Error* BufferDestroy(PJRT_Buffer_Destroy_Args* args) {
  delete args->buffer;
  return nullptr;
}

PJRT_Error* BufferElementType(PJRT_Buffer_ElementType_Args* args) {
  auto type = FromXla(args->buffer->buffer->element_type());
  RETURN_IF_ERROR(type.status());
  args->type = *type;
  return nullptr;
}

PJRT_Error* BufferDimensions(PJRT_Buffer_Dimensions_Args* args) {
  absl::Span<const int64_t> dimensions = args->buffer->buffer->dimensions();
  args->dims = dimensions.data();
  args->num_dims = dimensions.size();
  return nullptr;
}

PJRT_Error* BufferDevice(PJRT_Buffer_Device_Args* args) {
  args->device = &args->buffer->state->device;
  return nullptr;
}

PJRT_Error* BufferUnsafePointer(PJRT_Buffer_UnsafePointer_Args* args) {
  auto pointer = args->buffer->state->client->UnsafeBufferPointer(args->buffer->buffer.get());
  RETURN_IF_ERROR(pointer.status());
  args->buffer_pointer = *pointer;
  return nullptr;
}

PJRT_Error* BufferToHostBuffer(PJRT_Buffer_ToHostBuffer_Args* args) {
  auto size = args->src->buffer->GetOnDeviceSizeInBytes();
  RETURN_IF_ERROR(size.status());
  if (args->dst == nullptr) {
    args->dst_size = *size;
    return nullptr;
  }
  if (args->dst_size < *size) {
    return Result(absl::InvalidArgumentError("the buffer has " + std::to_string(*size) + " bytes, the place for it " +
                                             std::to_string(args->dst_size)));
  }
  args->event = new PJRT_Event{args->src->buffer->CopyRawToHost(args->dst, 0, *size)};
  return nullptr;
}

PJRT_Api Table() {
  // The header ends with functions alone; what is not set below answers that it is lacking.
  PJRT_Api api{};
  auto* first = reinterpret_cast<void**>(&api.PJRT_Error_Destroy);
  auto* end = reinterpret_cast<void**>(&api + 1);
  std::fill(first, end, reinterpret_cast<void*>(&Unimplemented));

  api.struct_size = PJRT_Api_STRUCT_SIZE;
  api.pjrt_api_version.struct_size = PJRT_Api_Version_STRUCT_SIZE;
  api.pjrt_api_version.major_version = PJRT_API_MAJOR;
  api.pjrt_api_version.minor_version = PJRT_API_MINOR;
  api.PJRT_Error_Destroy = ErrorDestroy;
  api.PJRT_Error_Message = ErrorMessage;
  api.PJRT_Error_GetCode = ErrorGetCode;
  api.PJRT_Plugin_Initialize = PluginInitialize;
  api.PJRT_Plugin_Attributes = PluginAttributes;
  api.PJRT_Event_Destroy = EventDestroy;
  api.PJRT_Event_Await = EventAwait;
  api.PJRT_Client_Create = ClientCreate;
  api.PJRT_Client_Destroy = ClientDestroy;
  api.PJRT_Client_PlatformName = ClientPlatformName;
  api.PJRT_Client_PlatformVersion = ClientPlatformVersion;
  api.PJRT_Client_ProcessIndex = ClientProcessIndex;
  api.PJRT_Client_Devices = ClientDevices;
  api.PJRT_Client_AddressableDevices = ClientAddressableDevices;
  api.PJRT_Client_DefaultDeviceAssignment = ClientDefaultDeviceAssignment;
  api.PJRT_Client_Compile = ClientCompile;
  api.PJRT_Client_BufferFromHostBuffer = ClientBufferFromHostBuffer;
  api.PJRT_Client_CreateViewOfDeviceBuffer = ClientCreateViewOfDeviceBuffer;
  api.PJRT_Device_GetDescription = DeviceGetDescription;
  api.PJRT_Device_IsAddressable = DeviceIsAddressable;
  api.PJRT_Device_LocalHardwareId = DeviceLocalHardwareId;
  api.PJRT_DeviceDescription_ProcessIndex = DescriptionProcessIndex;
  api.PJRT_DeviceDescription_DebugString = DescriptionDebugString;
  api.PJRT_LoadedExecutable_GetExecutable = LoadedExecutableGetExecutable;
  api.PJRT_LoadedExecutable_Destroy = LoadedExecutableDestroy;
  api.PJRT_LoadedExecutable_Execute = LoadedExecutableExecute;
  api.PJRT_Executable_Destroy = ExecutableDestroy;
  api.PJRT_Executable_Name = ExecutableName;
  api.PJRT_Executable_NumOutputs = ExecutableNumOutputs;
  api.PJRT_Executable_GetCompiledMemoryStats = ExecutableGetCompiledMemoryStats;
  api.PJRT_Buffer_Destroy = BufferDestroy;
  api.PJRT_Buffer_ElementType = BufferElementType;
  api.PJRT_Buffer_Dimensions = BufferDimensions;
  api.PJRT_Buffer_Device = BufferDevice;
  api.PJRT_Buffer_UnsafePointer = BufferUnsafePointer;
  api.PJRT_Buffer_ToHostBuffer = BufferToHostBuffer;
  return api;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) const PJRT_Api* GetPjrtApi() {
  static const PJRT_Api api = Table();
  return &api;
}
