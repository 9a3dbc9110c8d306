/** One field of a multipart/form-data body. */
export interface Part {
  readonly name: string;
  /** Absent for a text field. */
  readonly filename: string | undefined;
  readonly type: string;
  readonly body: Buffer;
}

const partsMax = 200;

/** undefined when the content type is not multipart/form-data, or the body is not what it says (RFC 7578). */
export function parseMultipart(contentType: string | undefined, body: Buffer): Part[] | undefined {
  const boundary = /^multipart\/form-data\s*;.*boundary=(?:"([^"]+)"|([^\s;]+))/i.exec(contentType ?? '');
  if (boundary === null) return undefined;
  const delimiter = Buffer.from(`\r\n--${boundary[1] ?? boundary[2] ?? ''}`);
  // The first delimiter has no line break before it.
  const framed = Buffer.concat([Buffer.from('\r\n'), body]);
  const parts: Part[] = [];
  let at = framed.indexOf(delimiter);
  if (at < 0) return undefined;
  for (;;) {
    const begin = at + delimiter.length;
    if (framed.toString('latin1', begin, begin + 2) === '--') return parts;
    const end = framed.indexOf(delimiter, begin);
    if (end < 0 || parts.length >= partsMax) return undefined;
    const part = parsePart(framed.subarray(begin + 2, end));
    if (part === undefined) return undefined;
    parts.push(part);
    at = end;
  }
}

function parsePart(bytes: Buffer): Part | undefined {
  const end = bytes.indexOf('\r\n\r\n');
  if (end < 0) return undefined;
  const head = bytes.toString('utf8', 0, end);
  const name = /;\s*name="([^"]*)"/i.exec(head)?.[1];
  if (name === undefined) return undefined;
  return {
    name,
    filename: /;\s*filename="([^"]*)"/i.exec(head)?.[1],
    type: /^content-type:\s*([^\r\n;]+)/im.exec(head)?.[1]?.toLowerCase() ?? 'text/plain',
    body: bytes.subarray(end + 4),
  };
}

/** The text fields; of repeated ones the last. */
export function textFields(parts: readonly Part[]): Record<string, string> {
  const fields: Record<string, string> = {};
  for (const part of parts) if (part.filename === undefined) fields[part.name] = part.body.toString('utf8');
  return fields;
}

/** Format of an image file by its first bytes. */
export function sniffImage(bytes: Buffer): 'png' | 'jpeg' | 'webp' | undefined {
  if (bytes.length > 8 && bytes.readUInt32BE(0) === 0x89504e47) return 'png';
  if (bytes.length > 3 && bytes.readUInt16BE(0) === 0xffd8) return 'jpeg';
  const isWebp = bytes.toString('latin1', 0, 4) === 'RIFF' && bytes.toString('latin1', 8, 12) === 'WEBP';
  return isWebp ? 'webp' : undefined;
}
