import { z } from 'zod';
import { defined } from '../../base/defined.ts';
import type { UserFile } from '../../models/user-file.ts';
import { ownPageSchema } from './list.ts';
import { toSeconds, unixSeconds } from './unix-seconds.ts';

export const fileSchema = z
  .object({
    id: z.string().meta({
      description: 'Requests refer to the file as `asset://<id>`, in any field that accepts media.',
    }),
    object: z.literal('file'),
    bytes: z.int(),
    created_at: unixSeconds(),
    expires_at: unixSeconds('The file is deleted at this time.'),
    filename: z.string(),
    purpose: z.string(),
    media: z
      .object({
        type: z.string(),
        width: z.int().optional().meta({ description: 'Pixels.' }),
        height: z.int().optional(),
        seconds: z.number().optional(),
      })
      .meta({
        description:
          'The file’s properties, read from its bytes. A property is absent if it is unknown or does not apply to this kind of medium.',
      }),
  })
  .meta({ id: 'File' });

export const fileListSchema = ownPageSchema(fileSchema).meta({ id: 'FileList' });

export function presentFile(file: UserFile): z.output<typeof fileSchema> {
  const { id, bytes, filename, purpose, media } = file;
  const { mediaType: type, width, height, seconds } = media;
  return {
    id,
    object: 'file',
    bytes,
    created_at: toSeconds(file.createdAt),
    expires_at: toSeconds(file.expiresAt),
    filename,
    purpose,
    media: { type, ...defined({ width, height, seconds }) },
  };
}
