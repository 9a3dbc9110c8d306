import { connect, createServer } from 'node:net';
import { listen } from '../../../test/support/listen.ts';

export interface CountedLink {
  readonly port: number;
  take(): Map<string, number>;
  close(): void;
}

/** The opcode of OP_MSG in the MongoDB wire protocol. Such a message has a header, flags, and one BSON document. */
const opMsg = 2013;
const headerBytes = 16;
const documentAt = headerBytes + 4 + 1;

export async function openCountedLink(targetPort: number): Promise<CountedLink> {
  const counts = new Map<string, number>();
  const count = (name: string): void => void counts.set(name, (counts.get(name) ?? 0) + 1);
  const server = createServer({ noDelay: true }, (near) => {
    const far = connect({ port: targetPort, host: '127.0.0.1', noDelay: true });
    near.on('data', messageReader(count));
    near.on('error', () => far.destroy());
    far.on('error', () => near.destroy());
    near.pipe(far).pipe(near);
  });
  const { port } = await listen(server);
  return {
    port,
    take() {
      const taken = new Map(counts);
      counts.clear();
      return taken;
    },
    close: () => void server.close(),
  };
}

function messageReader(count: (name: string) => void): (piece: Buffer) => void {
  let rest = Buffer.alloc(0);
  return (piece) => {
    rest = Buffer.concat([rest, piece]);
    while (rest.length >= headerBytes && rest.length >= rest.readInt32LE(0)) {
      const length = rest.readInt32LE(0);
      count(commandOf(rest.subarray(0, length)));
      rest = rest.subarray(length);
    }
  };
}

function commandOf(message: Buffer): string {
  if (message.readInt32LE(12) !== opMsg) return 'handshake';
  const type = message[documentAt + 4];
  const nameAt = documentAt + 5;
  const nameEnd = message.indexOf(0, nameAt);
  const name = message.toString('utf8', nameAt, nameEnd);
  if (type !== 2) return name;
  const valueAt = nameEnd + 5;
  return `${name} ${message.toString('utf8', valueAt, message.indexOf(0, valueAt))}`;
}
