import { digitsAt, parseObject, stringAt } from './json.ts';

/** How a shim can be talked to. */
export interface ShimSocket {
  /** `unix:///run/containerd/s/<hash>`; before 1.4.3 also an abstract name. */
  readonly address: string;
  /** Of the task API: bootstrap.json says it, and may say 3 of an old shim that speaks 2; null from `address`. */
  readonly version: 2 | 3 | null;
  /** `ttrpc` or `grpc`; null from `address`. */
  readonly protocol: string | null;
}

/** `<bundle>/bootstrap.json`, since containerd 2.0: runtime/v2/shim.go, BootstrapParams. */
export function parseBootstrap(text: string): ShimSocket | null {
  const bootstrap = parseObject(text);
  const address = bootstrap === null ? null : stringAt(bootstrap, 'address');
  if (bootstrap === null || address === null) return null;
  const version = digitsAt(bootstrap, 'version');
  return {
    address,
    version: version === '3' ? 3 : version === '2' ? 2 : null,
    protocol: stringAt(bootstrap, 'protocol'),
  };
}

/** `<bundle>/address`, up to 1.7: the address alone, without a line end. */
export function parseAddress(text: string): ShimSocket | null {
  const address = text.trim();
  return address === '' || /\s/.test(address) ? null : { address, version: null, protocol: null };
}
