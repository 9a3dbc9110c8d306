import { z } from 'zod';
import { unreadableError, isSuccess, refusalError } from '../shared/http-outcome.ts';
import type { ProviderContext, UploadedFile, UploadedMedia } from '../provider.ts';
import { callRunway } from './runway-call.ts';

/**
 * Requests can refer to an ephemeral upload by its `runway://…` URI for one day. It cannot be deleted sooner. Sources:
 * the vendor's SDK (`uploads.createEphemeral`) and, for the lifetime, its upload documentation.
 */

const slotSchema = z.object({
  uploadUrl: z.url(),
  fields: z.record(z.string(), z.string()),
  runwayUri: z.string().startsWith('runway://').max(2_048),
});

const keptMs = 86_400_000;

export async function uploadToRunway(
  { blob, name: filename }: UploadedFile,
  context: ProviderContext,
): Promise<UploadedMedia> {
  const json = { filename, type: 'ephemeral' };
  const answer = await callRunway({ method: 'POST', path: '/v1/uploads', json }, context);
  const slot = slotSchema.safeParse(answer.json).data;
  if (slot === undefined) throw unreadableError(answer, 'it does not contain an upload URL');
  const form = new FormData();
  for (const [field, value] of Object.entries(slot.fields)) form.append(field, value);
  form.append('file', blob, filename);
  // The storage is on another host, so the account's key must not be sent there. The form fields authorize the upload.
  const stored = await context.request({
    method: 'POST',
    url: slot.uploadUrl,
    form,
    signal: context.signal,
  });
  // The storage's own error body says nothing about the task's request, so ignore it.
  if (!isSuccess(stored)) throw refusalError({ ...stored, json: undefined }, undefined);
  return { id: slot.runwayUri, url: slot.runwayUri, keptMs };
}
