import {
  BufferTarget,
  EncodedAudioPacketSource,
  EncodedPacket,
  EncodedVideoPacketSource,
  OggOutputFormat,
  Output,
  WebMOutputFormat,
} from 'mediabunny';

function repeated(frame: Buffer, bytes: number): Buffer {
  return Buffer.concat(Array.from({ length: Math.ceil(bytes / frame.length) }, () => frame));
}

/** Consists of frames of 417 bytes with 1,152 samples each, which is 128 kbit/s at 44,100 Hz. */
export function makeMp3(bytes: number): Buffer {
  const frame = Buffer.alloc(417);
  frame.writeUInt32BE(0xff_fb_90_00);
  return repeated(frame, bytes);
}

/** Consists of frames of 512 bytes with 1,024 samples each, at 44,100 Hz. */
export function makeAac(bytes: number): Buffer {
  const frame = Buffer.alloc(512);
  Buffer.from([0xff, 0xf1, 0x50, 0x80, 0x40, 0x1f, 0xfc]).copy(frame);
  return repeated(frame, bytes);
}

/** Opus audio at 20 ms per 1,000 bytes. */
export async function makeOgg(bytes: number): Promise<Buffer> {
  const target = new BufferTarget();
  const output = new Output({ format: new OggOutputFormat(), target });
  const track = new EncodedAudioPacketSource('opus');
  output.addAudioTrack(track);
  await output.start();
  const description = Buffer.alloc(19);
  description.write('OpusHead\u0001\u0002', 'latin1');
  description.writeUInt32LE(48_000, 12);
  const decoderConfig = { codec: 'opus', numberOfChannels: 2, sampleRate: 48_000, description };
  const data = Buffer.alloc(1_000);
  data[0] = 0xfc;
  for (let at = 0; at < bytes / data.length; at += 1)
    await track.add(new EncodedPacket(data, 'key', at * 0.02, 0.02), { decoderConfig });
  await output.finalize();
  return Buffer.from(target.buffer ?? new ArrayBuffer(0));
}

/** VP8 video at 40 ms per 20,000 bytes. Like a browser recording, the file has no frame table. */
export async function makeRecordedWebm(bytes: number): Promise<Buffer> {
  const target = new BufferTarget();
  const output = new Output({ format: new WebMOutputFormat({ appendOnly: true }), target });
  const track = new EncodedVideoPacketSource('vp8');
  output.addVideoTrack(track);
  await output.start();
  const decoderConfig = { codec: 'vp8', codedWidth: 640, codedHeight: 360 };
  const data = Buffer.alloc(20_000);
  for (let at = 0; at < bytes / data.length; at += 1)
    await track.add(new EncodedPacket(data, at % 25 === 0 ? 'key' : 'delta', at * 0.04, 0.04), {
      decoderConfig,
    });
  await output.finalize();
  return Buffer.from(target.buffer ?? new ArrayBuffer(0));
}
