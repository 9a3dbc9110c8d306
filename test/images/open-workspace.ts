import { writeFile } from 'node:fs/promises';
import { openImageWorkspaces } from '../../src/images/workspace.ts';

/** Opens a workspace in the directory given as the first argument, writes a file there, and waits to be killed. */
const workspaces = await openImageWorkspaces(Date.now, process.argv[2] ?? '');
const workspace = workspaces.open();
await workspace.make();
await writeFile(workspace.newPath(), 'what a caller sent');
process.stdout.write(`${workspaces.directory}\n`);
setInterval(() => undefined, 1_000);
