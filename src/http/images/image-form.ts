import type { Context } from 'koa';
import { GatewayError } from '../../errors/errors.ts';
import { consumeBody } from '../bodies/consume-body.ts';
import { Slab } from '../bodies/slab.ts';
import { readUtf8 } from '../body.ts';
import { hasMediaName } from '../../intake/carries.ts';
import { fieldsOfForm } from '../../intake/form-fields.ts';
import { dataUrlStart, longDataUrlBytesMin, openDataUrlFile, type DataUrlFile } from './data-url-file.ts';
import type { Reading } from './image-upload.ts';
import { MultipartParser, type PartHead, type PartSink } from './multipart-parser.ts';
import { openSpool, type Spool } from './spool.ts';
import type { UploadedFile } from '../../intake/uploaded-file.ts';

const fieldsMax = 100;
/** The limit for all text fields together, except long data URLs. */
const textBytesMax = 1024 * 1024;

export async function readForm(
  context: Context,
  { scope, workspace, limits }: Reading,
): Promise<Record<string, unknown>> {
  const spool = openSpool(workspace, { filesMax: limits.filesMax, disk: scope.disk });
  const fields = new FormFields(spool, new Slab(scope.memory, textBytesMax + longDataUrlBytesMin));
  const parser = new MultipartParser(boundaryOf(context), (head) => fields.open(head));
  try {
    await consumeBody(context.req, {
      ...scope,
      bytesMax: limits.bodyBytesMax,
      onChunk: (chunk) => {
        parser.push(chunk);
        return spool.isFull ? spool.flush() : undefined;
      },
    });
    parser.end();
    await spool.flush();
  } finally {
    await spool.close();
  }
  return fields.values();
}

function boundaryOf({ req }: Context): string {
  const type = req.headers['content-type'] ?? '';
  const match = /;\s*boundary=(?:"([^"]{1,70})"|([^\s;"]{1,70}))/i.exec(type);
  const boundary = match?.[1] ?? match?.[2];
  if (boundary !== undefined) return boundary;
  throw new GatewayError('invalid_parameter', 'The content-type of a form must contain its boundary.');
}

type FieldValue = string | UploadedFile;

class FormFields {
  private readonly spool: Spool;
  private readonly text: Slab;
  private readonly parts: { readonly name: string; readonly value: () => FieldValue }[] = [];

  constructor(spool: Spool, text: Slab) {
    this.spool = spool;
    this.text = text;
  }

  open({ name, fileName, mediaType }: PartHead): PartSink {
    const isFile = fileName !== undefined || (hasMediaName(name) && mediaType.startsWith('image/'));
    if (isFile) return this.openFile(name, fileName ?? 'image');
    if (this.parts.length >= fieldsMax) throw tooManyFields();
    return this.openText(name);
  }

  values(): Record<string, unknown> {
    return fieldsOfForm(this.parts.map(({ name, value }) => ({ name, value: value() })));
  }

  private openFile(name: string, fileName: string): PartSink {
    const file = this.spool.newFile(name);
    this.parts.push({ name, value: () => file.uploaded(fileName) });
    return { write: (bytes) => file.append(bytes), end: () => undefined };
  }

  private openText(name: string): PartSink {
    const { text } = this;
    const from = text.bytes;
    let to = from;
    let long: DataUrlFile | undefined;
    /** Whether the text may still turn out to be a long data URL. Its beginning decides, and is read only once. */
    let isOpen = hasMediaName(name);
    this.parts.push({
      name,
      value: () => long?.file.uploaded('image') ?? readUtf8(text.read(from, to)),
    });
    return {
      write: (piece) => {
        if (long !== undefined) {
          long.push(piece.toString('latin1'), false);
          return;
        }
        const isLong = isOpen && to + piece.length - from > longDataUrlBytesMin;
        if (!isLong && to + piece.length > textBytesMax) throw tooMuchText();
        text.push(piece);
        to = text.bytes;
        if (!isLong) return;
        isOpen = false;
        const start = dataUrlStart(text.read(from, to).toString('latin1'));
        if (start !== undefined) {
          long = openDataUrlFile(this.spool, name, start);
          text.cutTo(from);
        } else if (to > textBytesMax) {
          throw tooMuchText();
        }
      },
      end: () => long?.push('', true),
    };
  }
}

function tooManyFields(): GatewayError {
  return new GatewayError('request_too_large', `A form may contain at most ${fieldsMax} fields.`);
}

function tooMuchText(): GatewayError {
  return new GatewayError(
    'request_too_large',
    `The text fields of a form must not exceed ${textBytesMax} bytes in total. Send images as files.`,
  );
}
