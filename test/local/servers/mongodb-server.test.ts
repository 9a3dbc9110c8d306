import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { expect, it } from 'vitest';

import { startMongoServer } from '../../../src/local/servers/mongodb-server.ts';
import { scratchOptions } from './scratch.ts';

it('a mongod is given one address, and makes no socket file, which another user may have left', async () => {
  const options = await scratchOptions();
  const path = join(options.dataDir, 'mongod');
  await writeFile(path, '#!/bin/sh\necho "$@"\nexit 1\n', { mode: 0o755 });
  const starting = startMongoServer({ ...options, program: { kind: 'mongod', path }, port: 'any' });
  await expect(starting).rejects.toThrow(/--bind_ip 127\.0\.0\.1 --port \d+ .*--nounixsocket$/u);
});
