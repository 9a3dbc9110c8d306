import { invalidParameter, type GatewayError } from '../../errors/errors.ts';
import { mediaTypeOfBase64 } from '../../intake/carries.ts';
import { Base64Decoder } from './base64-decoder.ts';
import type { Spool, SpoolFile } from './spool.ts';

/** Longer data URLs are written to a file while they are read. */
export const longDataUrlBytesMin = 16 * 1024;

const dataUrlHead = /^data:[a-z0-9.+/-]{0,64}(?:;[a-z0-9=._-]{1,64}){0,4};base64,/i;

/** Adds a header to bare base64. Returns undefined for any text that is neither base64 nor a data URL. */
export function dataUrlStart(text: string): string | undefined {
  if (/^data:/i.test(text)) return text;
  const type = mediaTypeOfBase64(text);
  return type === undefined ? undefined : `data:${type};base64,${text}`;
}

export interface DataUrlFile {
  readonly file: SpoolFile;
  push(piece: string, last: boolean): void;
}

/** @param start - The header and everything received after it so far. */
export function openDataUrlFile(spool: Spool, param: string, start: string): DataUrlFile {
  const head = dataUrlHead.exec(start.slice(0, 512))?.[0];
  if (head === undefined) throw refuse(param, 'must be data:image/<type>;base64,<data>');
  const file = spool.newFile(param);
  const decoder = new Base64Decoder();
  const dataUrl: DataUrlFile = {
    file,
    push(piece, last) {
      const decoded = decoder.push(piece);
      const rest = last ? decoder.end() : Buffer.alloc(0);
      if (decoded === undefined || rest === undefined) throw refuse(param, 'is not valid base64');
      file.append(decoded);
      file.append(rest);
    },
  };
  dataUrl.push(start.slice(head.length), false);
  return dataUrl;
}

function refuse(param: string, reason: string): GatewayError {
  return invalidParameter(param, `The parameter ${param} ${reason}.`);
}
