import type { Call } from '../dialect.ts';
import { FaultSet } from '../fault.ts';
import type { JobDesk } from '../job-desk.ts';
import type { Medium } from '../media/medium.ts';
import { momentOf } from '../task.ts';
import type { Task } from '../task.ts';
import { bytes } from '../wire.ts';
import type { Reply } from '../wire.ts';
import type { World } from '../world.ts';
import { GoogleError, invalid } from './google-error.ts';
import type { GoogleDetail } from './google-models.ts';

export type GoogleTask = Task<GoogleDetail>;
export type GoogleDesk = JobDesk<GoogleDetail>;

export const recordKeptMs = 30 * 86_400_000;
export const expiresAfterMs = 86_400_000;
/** Of the Files API. */
const fileKeptMs = 48 * 3_600_000;
const filesPath = '/google/v1beta/files';

function mediumOf(task: GoogleTask, world: World, sample = 0): Medium {
  return world.video(task.detail, sample, FaultSet.of(task.faults));
}

/** The video of an interaction. */
export function videoPart(task: GoogleTask, world: World): object {
  const { delivery, bucket = '' } = task.detail;
  const mime_type = 'video/mp4';
  if (delivery === 'inline')
    return { type: 'video', data: world.renderBase64(mediumOf(task, world)), mime_type };
  const uri = delivery === 'bucket' ? `${bucket}/${task.id}/sample_0.mp4` : fileUri(task, world);
  return { type: 'video', uri, mime_type };
}

/** A video of an operation on Vertex. */
export function vertexVideo(task: GoogleTask, world: World, sample: number): object {
  const { bucket } = task.detail;
  const mimeType = 'video/mp4';
  if (bucket !== undefined) return { gcsUri: `${bucket}/${task.id}/sample_${sample}.mp4`, mimeType };
  return { bytesBase64Encoded: world.renderBase64(mediumOf(task, world, sample)), mimeType };
}

/** Works with the key only. */
export function fileUri({ id }: GoogleTask, world: World): string {
  return `${world.parts.origin}${filesPath}/${id}:download?alt=media`;
}

/** The file itself stands elsewhere: one redirect leads to it. Who may not read a file learns no more than that. */
export function download(desk: GoogleDesk, call: Call): Promise<Reply> {
  const { world } = desk;
  const id = call.id.replace(/:download$/, '');
  if (call.request.query.get('alt') !== 'media') throw new GoogleError(invalid, 'alt must be media.');
  const refused = new GoogleError(
    [403, 'PERMISSION_DENIED'],
    'You do not have permission to access the File, or it may not exist.',
  );
  return desk.about(
    'media',
    { ...call, id },
    {
      found(task) {
        const { phase, since } = momentOf(task, world.now());
        const left = since + fileKeptMs - world.now();
        if (phase !== 'succeeded' || left <= 0) throw refused;
        return bytes(302, Buffer.alloc(0), {
          location: world.link(task, mediumOf(task, world), since, fileKeptMs / 1000),
        });
      },
      missing: () => refused.reply(),
    },
  );
}
