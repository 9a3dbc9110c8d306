import { basename } from 'node:path/posix';
import { z } from 'zod';
import { createPlaces } from '../../base/places.ts';
import { defined } from '../../base/defined.ts';
import { accountClosed, GatewayError } from '../../errors/errors.ts';
import { plainText } from '../../base/plain-text.ts';
import type { NewFile } from '../../media/files.ts';
import { mediaUrlNotAllowed } from '../address-checks.ts';
import type { RouteDeps } from '../deps.ts';
import type { FileRouteDeps } from '../files/own-file.ts';
import { imageBody } from '../images/image-upload.ts';
import { uploadedFile } from '../../intake/uploaded-file.ts';
import { fileSchema, presentFile } from '../presenters/file.ts';
import { jsonReply, keyRoute, type Route } from '../route.ts';

type Deps = Pick<RouteDeps, 'accounts' | 'checkMediaUrl'> & { readonly stored: FileRouteDeps };

const formBytesMax = 64 * 1024;
const filenameCharactersMax = 255;
/** A request may contain the file to store, and a description that some clients also send as a file. */
const filesMax = 2;
export const fetchesMax = { name: 'fetched files', placesMax: 8, shareMax: 2 } as const;

const uploaded = uploadedFile.optional();

const body = z
  .object({
    file: uploaded,
    content: uploaded.meta({
      description:
        'An alternative to `file`, used by clients of the predictions API. The response then contains `urls`.',
    }),
    url: z.string().min(1).optional().meta({
      description: 'An alternative to `file`: the URL from which the gateway fetches the file.',
    }),
    filename: z
      .string()
      .min(1)
      .optional()
      .meta({ description: 'Defaults to the name in the form or the URL.' }),
    purpose: z
      .string()
      .refine((text) => /^[\w-]{1,64}$/.test(text), 'must be 1-64 letters, digits, dashes and underscores')
      .default('user_data')
      .meta({ description: 'A label that you choose. It has no effect.' }),
  })
  .meta({ id: 'FileRequest', examples: [{ url: 'https://example.com/picture.png' }] });

type Body = z.output<typeof body>;

export function createFile({ accounts, checkMediaUrl, stored }: Deps): Route {
  const fetches = createPlaces(fetchesMax);
  const limits = { bodyBytesMax: stored.files.bytesMax + formBytesMax, filesMax };

  async function addFetched(url: string, asked: Omit<NewFile, 'path' | 'bytes'>) {
    const reason = checkMediaUrl(url);
    if (reason !== undefined) throw mediaUrlNotAllowed('url', reason);
    const workspace = stored.workspaces.open();
    try {
      await workspace.make();
      return await stored.files.addFetched(url, { ...asked, path: workspace.newPath() });
    } finally {
      await workspace.dispose();
    }
  }

  return keyRoute({
    operationId: 'createFile',
    scope: 'create',
    summary: 'Store a file for later requests',
    description:
      'Stores an image, a video or an audio file, sent as `file` in a form or as a URL in JSON. `media` describes the file, as read from its bytes. Until `expires_at`, all of the account’s requests can refer to the file as `asset://<id>`.',
    tag: 'Files',
    method: 'post',
    paths: ['/v1/files'],
    input: z.object({ body }),
    readBody: imageBody(stored.workspaces, limits),
    success: {
      description: 'The file is stored.',
      schema: fileSchema.extend({
        urls: z.object({ get: z.string() }).optional().meta({
          description:
            'The URL that requests use for the file. Present only if the file was sent as `content`.',
        }),
      }),
    },
    errors: ['media_url_not_allowed', 'account_closed', 'storage_quota_exceeded'],
    async handle({ body: { content, file = content, url, filename, purpose }, caller: { account, key } }) {
      if ((await accounts.find(account))?.closedAt !== undefined) throw accountClosed(account);
      const param = file === undefined ? 'url' : file === content ? 'content' : 'file';
      const asked = { account, key, purpose, param, filename: nameOf({ file, url, filename }) };
      if (file !== undefined) {
        const { path, bytes } = file;
        const added = presentFile(await stored.files.add({ ...asked, path, bytes }));
        const urls = content === undefined ? undefined : { get: `asset://${added.id}` };
        return jsonReply({ ...added, ...defined({ urls }) });
      }
      if (url === undefined)
        throw new GatewayError('missing_parameter', 'Send a form with a `file`, or JSON with its `url`.', {
          param: 'file',
        });
      return jsonReply(presentFile(await fetches.run(account, () => addFetched(url, asked))));
    },
  });
}

function nameOf({ file, url = '', filename }: Pick<Body, 'file' | 'url' | 'filename'>): string {
  const path = URL.canParse(url) ? new URL(url).pathname : '';
  const name = plainText(filename ?? file?.name ?? basename(path), filenameCharactersMax);
  return name === '' ? 'file' : name;
}
