import { z } from 'zod';
import type { Reach } from '../../base/key-scope.ts';
import { GatewayError } from '../../errors/errors.ts';
import type { UserFile } from '../../models/user-file.ts';
import type { ImageWorkspaces } from '../../images/workspace.ts';
import type { LinkMedium } from '../../media/file-links.ts';
import type { Files } from '../../media/files.ts';
import type { ResultStorage } from '../../results/storage.ts';

export interface FileRouteDeps {
  readonly files: Files;
  readonly linkMedium: LinkMedium;
  readonly storage: Pick<ResultStorage, 'stat' | 'read' | 'directAddress'>;
  readonly workspaces: ImageWorkspaces;
}

export const fileParams = z.object({ file_id: z.string() });

/** Throws file_not_found both for a missing file and for one that the caller is not allowed to read. */
export async function findOwnFile(files: Pick<Files, 'find'>, id: string, reach: Reach): Promise<UserFile> {
  const file = await files.find(id, reach);
  if (file !== undefined) return file;
  throw fileNotFound();
}

export function fileNotFound(): GatewayError {
  return new GatewayError('file_not_found', 'There is no such file, or it has expired.', {
    param: 'file_id',
  });
}
