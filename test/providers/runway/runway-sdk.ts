import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { readSdkTypes, type SdkObject, type SdkTypes } from '../../support/sdk-types.ts';

const require = createRequire(import.meta.url);
const folder = join(dirname(require.resolve('@runwayml/sdk')), 'resources');

const sdkPaths = ['text_to_video', 'image_to_video', 'video_to_video', 'text_to_image'] as const;
type SdkPath = (typeof sdkPaths)[number];

export interface SdkBody {
  readonly path: SdkPath;
  readonly model: string;
  readonly name: string;
  readonly fields: SdkObject;
  readonly types: SdkTypes;
}

export const sdkTasks: SdkTypes = readSdkTypes(join(folder, 'tasks.d.ts'), 'TaskRetrieveResponse');

export const sdkBodies: readonly SdkBody[] = sdkPaths.flatMap((path) => {
  const type = path.replaceAll(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());
  const file = join(folder, `${path.replaceAll('_', '-')}.d.ts`);
  const types = readSdkTypes(file, `${type}CreateParams`);
  return [...types].flatMap(([name, fields]) => {
    const model = /^'(.*)'$/.exec(fields.get('model')?.type ?? '')?.[1];
    return model === undefined ? [] : [{ path, model, name, fields, types }];
  });
});
