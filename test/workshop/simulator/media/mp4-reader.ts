/** A strict reader of the MP4s under test, written from ISO 14496-12/-15 and not from the writer. */
export interface Mp4 {
  readonly topLevel: readonly string[];
  readonly movieSeconds: number;
  readonly mediaSeconds: number;
  readonly width: number;
  readonly height: number;
  readonly profile: number;
  readonly level: number;
  readonly sps: Buffer;
  readonly pps: Buffer;
  /** NAL units of each sample. */
  readonly samples: readonly (readonly Buffer[])[];
  readonly syncSamples: readonly number[];
}

interface Box {
  readonly type: string;
  readonly start: number;
  readonly body: Buffer;
}

export function readMp4(file: Buffer): Mp4 {
  const boxes = readBoxes(file, 0);
  const movie = readBoxes(one(boxes, 'moov').body);
  const track = readBoxes(one(movie, 'trak').body);
  const media = readBoxes(one(track, 'mdia').body);
  const table = readBoxes(one(readBoxes(one(media, 'minf').body), 'stbl').body);
  const entry = one(readBoxes(one(table, 'stsd').body.subarray(8)), 'avc1').body;
  const configuration = one(readBoxes(entry.subarray(78)), 'avcC').body;
  const spsLength = configuration.readUInt16BE(6);
  const sps = configuration.subarray(8, 8 + spsLength);
  const ppsLength = configuration.readUInt16BE(9 + spsLength);
  const header = one(movie, 'mvhd').body;
  const mediaHeader = one(media, 'mdhd').body;
  return {
    topLevel: boxes.map(({ type }) => type),
    movieSeconds: header.readUInt32BE(16) / header.readUInt32BE(12),
    mediaSeconds: mediaHeader.readUInt32BE(16) / mediaHeader.readUInt32BE(12),
    width: entry.readUInt16BE(24),
    height: entry.readUInt16BE(26),
    profile: configuration.readUInt8(1),
    level: configuration.readUInt8(3),
    sps,
    pps: configuration.subarray(11 + spsLength, 11 + spsLength + ppsLength),
    samples: readSamples(file, table, one(boxes, 'mdat'), mediaHeader),
    syncSamples: words(one(table, 'stss').body.subarray(8)),
  };
}

function readSamples(file: Buffer, table: readonly Box[], data: Box, mediaHeader: Buffer): Buffer[][] {
  const sizes = words(one(table, 'stsz').body.subarray(12));
  if (one(table, 'stsz').body.readUInt32BE(8) !== sizes.length)
    throw new Error('stsz: count and table differ');
  const [entries, count, delta] = words(one(table, 'stts').body.subarray(4));
  if (entries !== 1 || count !== sizes.length) throw new Error('stts does not cover the samples');
  if ((count ?? 0) * (delta ?? 0) !== mediaHeader.readUInt32BE(16)) throw new Error('stts and mdhd differ');
  if (words(one(table, 'stsc').body.subarray(4)).join() !== [1, 1, sizes.length, 1].join())
    throw new Error('stsc');
  let offset = words(one(table, 'stco').body.subarray(4))[1] ?? 0;
  if (offset !== data.start + 8) throw new Error('stco does not point at the data');
  const samples = sizes.map((size) => {
    const sample = file.subarray(offset, offset + size);
    offset += size;
    return splitNals(sample);
  });
  if (offset !== data.start + 8 + data.body.length) throw new Error('the samples do not fill mdat');
  return samples;
}

function splitNals(sample: Buffer): Buffer[] {
  const nals: Buffer[] = [];
  for (let at = 0; at < sample.length;) {
    const length = sample.readUInt32BE(at);
    if (length === 0 || at + 4 + length > sample.length) throw new Error('a NAL unit exceeds its sample');
    nals.push(sample.subarray(at + 4, at + 4 + length));
    at += 4 + length;
  }
  return nals;
}

function readBoxes(bytes: Buffer, base = 0): Box[] {
  const boxes: Box[] = [];
  for (let at = 0; at < bytes.length;) {
    const size = bytes.readUInt32BE(at);
    if (size < 8 || at + size > bytes.length)
      throw new Error(`box at ${at}: size ${size} of ${bytes.length}`);
    boxes.push({
      type: bytes.toString('latin1', at + 4, at + 8),
      start: base + at,
      body: bytes.subarray(at + 8, at + size),
    });
    at += size;
  }
  return boxes;
}

function one(boxes: readonly Box[], type: string): Box {
  const found = boxes.filter((box) => box.type === type);
  if (found.length !== 1 || found[0] === undefined) throw new Error(`${found.length} ${type} boxes`);
  return found[0];
}

function words(bytes: Buffer): number[] {
  return Array.from({ length: bytes.length / 4 }, (_, index) => bytes.readUInt32BE(index * 4));
}
