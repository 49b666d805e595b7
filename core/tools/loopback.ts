import type { ServerOptions } from '../base/options.gen.js';

type Writable<Options> = { -readonly [Key in keyof Options]: Options[Key] };

/** Listeners that no other machine can reach: plain HTTP on free ports of this machine. */
export function onLoopback(options: ServerOptions): ServerOptions {
  const server: Writable<ServerOptions> = { ...options };
  delete server.tlsCertFile;
  delete server.tlsKeyFile;
  delete server.tlsClientCaFile;
  return { ...server, listen: '127.0.0.1:0', adminListen: '127.0.0.1:0', tlsRequireClientCert: false };
}
