import { PAUSE } from './busybox-image.ts';

interface ConfigPlaces {
  readonly folder: string;
  readonly root: string;
  readonly state: string;
  readonly socket: string;
  readonly runc?: string;
  readonly config?: string;
}

/** config.toml (version 2, read by containerd 1.3 to 2.x) of a containerd that keeps to its own folders. */
export function containerdConfig({ folder, root, state, socket, runc, config = '' }: ConfigPlaces): string {
  return `version = 2
root = "${root}"
state = "${state}"
[grpc]
  address = "${socket}"
[plugins."io.containerd.internal.v1.opt"]
  path = "${folder}/opt"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "${PAUSE}"
  # runc fails without CAP_SYS_RESOURCE when it is to lower oom_score_adj ("can't get final child's PID from pipe: EOF")
  restrict_oom_score_adj = true
  disable_tcp_service = true
[plugins."io.containerd.grpc.v1.cri".cni]
  bin_dir = "${folder}/cni/bin"
  conf_dir = "${folder}/cni/net.d"
[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
  runtime_type = "io.containerd.runc.v2"
[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
${runc === undefined ? '' : `  BinaryName = "${runc}"\n`}${config}
`;
}
