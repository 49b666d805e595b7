import { createSocket } from 'node:dgram';
import type { ExecutionContext } from 'ava';

/** The data of a small DNS server: addresses of names, and records of services. It may change. */
export interface Zone {
  readonly a: Map<string, readonly string[]>;
  readonly srv: Map<string, readonly { readonly host: string; readonly port: number }[]>;
}

/** Answers A and SRV queries until the test ends. @returns its address */
export async function dnsServer(t: Pick<ExecutionContext, 'teardown'>, zone: Zone): Promise<string> {
  const socket = createSocket('udp4');
  socket.on('message', (question, { port, address }) => socket.send(answerTo(question, zone), port, address));
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
  t.teardown(() => socket.close());
  return `127.0.0.1:${socket.address().port}`;
}

const types = { a: 1, srv: 33 };

function answerTo(question: Buffer, { a, srv }: Zone): Buffer {
  const labels: string[] = [];
  let at = 12;
  for (let length = question[at] ?? 0; length > 0; length = question[at] ?? 0) {
    labels.push(question.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  const name = labels.join('.').toLowerCase();
  const type = question.readUInt16BE(at + 1);
  const asked = question.subarray(12, at + 5);
  const records =
    type === types.a
      ? (a.get(name) ?? []).map((ip) => recordOf(types.a, Buffer.from(ip.split('.').map(Number))))
      : type === types.srv
        ? (srv.get(name) ?? []).map(({ host, port }) => recordOf(types.srv, srvData(host, port)))
        : [];
  const head = Buffer.alloc(12);
  question.copy(head, 0, 0, 2);
  // An authoritative answer; NXDOMAIN if there are no records.
  head.writeUInt16BE(records.length > 0 ? 0x8580 : 0x8583, 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt16BE(records.length, 6);
  return Buffer.concat([head, asked, ...records]);
}

function recordOf(type: number, data: Buffer): Buffer {
  const head = Buffer.alloc(12);
  // A pointer to the name in the question.
  head.writeUInt16BE(0xc00c, 0);
  head.writeUInt16BE(type, 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt16BE(data.byteLength, 10);
  return Buffer.concat([head, data]);
}

function srvData(host: string, port: number): Buffer {
  const head = Buffer.alloc(6);
  head.writeUInt16BE(port, 4);
  const labels = host
    .split('.')
    .map((label) => Buffer.concat([Buffer.from([label.length]), Buffer.from(label)]));
  return Buffer.concat([head, ...labels, Buffer.from([0])]);
}
