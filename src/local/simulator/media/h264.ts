import { BitWriter } from './bit-writer.ts';
import { filledColumns } from './picture.ts';
import type { Picture, Yuv } from './picture.ts';

/** One video in H.264 Constrained Baseline; NAL units without start codes, escaped. */
export interface H264Stream {
  readonly sps: Buffer;
  readonly pps: Buffer;
  /** One NAL unit per frame; the first is the only IDR frame. */
  readonly frames: readonly Buffer[];
}

export const framesPerSecond = 24;

/*
 * Only three kinds of macroblock are written: Intra16x16 in the IDR frame, Intra16x16 for the blocks of the bar
 * that light up, and P_Skip for everything else. At this quantiser one step of the DC level is exactly one step
 * of the sample (QP 28: 64 per level before the (x+32)>>6 of the transform; chroma through an offset of -6),
 * so the decoded picture is exactly the picture that was meant, and no AC coefficient is needed.
 */
const lumaQp = 28;
const chromaQpOffset = -6;
const nalIdr = 0x65;
const nalNonIdr = 0x41;
const predictVertical = 0;
const predictHorizontal = 1;
const predictDc = 2;
const chromaDc = 0;
const chromaVertical = 2;

export function encodeH264(picture: Picture, frameCount: number): H264Stream {
  const frames: Buffer[] = [encodeIdr(picture)];
  for (let frame = 1; frame < frameCount; frame += 1) {
    const from = filledColumns(picture, frame - 1, frameCount);
    const to = filledColumns(picture, frame, frameCount);
    frames.push(encodeInter(picture, frame, from, to));
  }
  return { sps: encodeSps(picture), pps: encodePps(), frames };
}

/** Smallest level whose frame size fits (H.264 table A-1); 24 frames a second fit in each of them. */
export function levelFor(blocks: number): number {
  const levels = [
    [1620, 30],
    [3600, 31],
    [8192, 40],
    [22080, 50],
    [36864, 51],
  ] as const;
  for (const [blocksMax, level] of levels) if (blocks <= blocksMax) return level;
  return 60;
}

function encodeSps(picture: Picture): Buffer {
  const writer = new BitWriter();
  writer.bits(66, 8); // Baseline
  writer.bits(0b11000000, 8); // constraint_set0 and 1: Constrained Baseline
  writer.bits(levelFor(picture.columns * picture.rows), 8);
  writer.ue(0); // seq_parameter_set_id
  writer.ue(0); // log2_max_frame_num - 4
  writer.ue(2); // pic_order_cnt_type: output order is decoding order
  writer.ue(1); // max_num_ref_frames
  writer.bits(0, 1);
  writer.ue(picture.columns - 1);
  writer.ue(picture.rows - 1);
  writer.bits(1, 1); // frame_mbs_only
  writer.bits(1, 1); // direct_8x8_inference
  const cropRight = picture.columns * 16 - picture.width;
  const cropBottom = picture.rows * 16 - picture.height;
  writer.bits(cropRight > 0 || cropBottom > 0 ? 1 : 0, 1);
  if (cropRight > 0 || cropBottom > 0)
    for (const crop of [0, cropRight / 2, 0, cropBottom / 2]) writer.ue(crop);
  encodeVui(writer);
  return nalUnit(0x67, writer);
}

function encodeVui(writer: BitWriter): void {
  writer.bits(1, 1); // vui_parameters_present
  writer.bits(0b00, 2); // no aspect ratio, no overscan
  writer.bits(0b1, 1); // video signal type: unspecified format, limited range
  writer.bits(5, 3);
  writer.bits(0b01, 2);
  for (let index = 0; index < 3; index += 1) writer.bits(1, 8); // BT.709
  writer.bits(0, 1); // chroma location
  writer.bits(1, 1); // timing
  writer.bits(0, 16);
  writer.bits(1, 16);
  writer.bits(0, 16);
  writer.bits(2 * framesPerSecond, 16);
  writer.bits(1, 1); // fixed frame rate
  writer.bits(0b000, 3); // no HRD, no pic_struct
  writer.bits(1, 1); // bitstream restriction: nothing is reordered
  writer.bits(1, 1);
  for (const value of [0, 0, 16, 16, 0, 1]) writer.ue(value);
}

function encodePps(): Buffer {
  const writer = new BitWriter();
  writer.ue(0);
  writer.ue(0);
  writer.bits(0, 2); // CAVLC, no field order
  writer.ue(0);
  writer.ue(0);
  writer.ue(0);
  writer.bits(0, 3); // no weighted prediction
  writer.se(lumaQp - 26);
  writer.se(0);
  writer.se(chromaQpOffset);
  writer.bits(0b100, 3); // slices switch deblocking off: it would blur the exact values
  return nalUnit(0x68, writer);
}

function encodeIdr(picture: Picture): Buffer {
  const writer = new BitWriter();
  writer.ue(0); // first_mb_in_slice
  writer.ue(7); // I
  writer.ue(0);
  writer.bits(0, 4); // frame_num
  writer.ue(0); // idr_pic_id
  writer.bits(0, 2);
  writer.se(0);
  writer.ue(1); // no deblocking
  for (let row = 0; row < picture.rows; row += 1) {
    for (let column = 0; column < picture.columns; column += 1) {
      const colour = picture.colour(column, row, 0);
      if (row > 0) {
        writeIntra(writer, { mode: predictVertical, chromaMode: chromaDc, typeOffset: 0, delta: noDelta });
      } else if (column > 0) {
        const delta = difference(colour, picture.colour(column - 1, row, 0));
        writeIntra(writer, { mode: predictHorizontal, chromaMode: chromaDc, typeOffset: 0, delta });
      } else {
        const delta = difference(colour, { y: 128, cb: 128, cr: 128 });
        writeIntra(writer, { mode: predictDc, chromaMode: chromaDc, typeOffset: 0, delta });
      }
    }
  }
  return nalUnit(nalIdr, writer);
}

/** A frame in which only the bar grows, from `from` to `to` lit columns. */
function encodeInter(picture: Picture, frame: number, from: number, to: number): Buffer {
  const writer = new BitWriter();
  writer.ue(0);
  writer.ue(5); // P
  writer.ue(0);
  writer.bits(frame % 16, 4);
  writer.bits(0, 3); // reference count, list order and marking as by default
  writer.se(0);
  writer.ue(1);
  let skipped = 0;
  let address = 0;
  for (let row = picture.barTop; row < picture.barBottom; row += 1) {
    for (let column = from; column < to; column += 1) {
      const target = row * picture.columns + column;
      writer.ue(target - address);
      skipped = target + 1;
      address = skipped;
      const delta = difference(picture.colour(column, row, to), picture.colour(column, row - 1, to));
      writeIntra(writer, { mode: predictVertical, chromaMode: chromaVertical, typeOffset: 5, delta });
    }
  }
  const rest = picture.columns * picture.rows - address;
  if (rest > 0) writer.ue(rest);
  return nalUnit(nalNonIdr, writer);
}

const noDelta: Yuv = { y: 0, cb: 0, cr: 0 };

function difference(target: Yuv, predicted: Yuv): Yuv {
  return { y: target.y - predicted.y, cb: target.cb - predicted.cb, cr: target.cr - predicted.cr };
}

interface IntraBlock {
  readonly mode: number;
  readonly chromaMode: number;
  /** mb_type counts from 5 for intra blocks inside a P slice. */
  readonly typeOffset: 0 | 5;
  readonly delta: Yuv;
}

function writeIntra(writer: BitWriter, { mode, chromaMode, typeOffset, delta }: IntraBlock): void {
  const withChroma = delta.cb !== 0 || delta.cr !== 0;
  writer.ue(typeOffset + 1 + mode + (withChroma ? 4 : 0));
  writer.ue(chromaMode);
  writer.se(0); // mb_qp_delta
  writeDc(writer, delta.y, 'luma');
  if (!withChroma) return;
  writeDc(writer, delta.cb, 'chroma');
  writeDc(writer, delta.cr, 'chroma');
}

/** CAVLC of a block with at most one coefficient, its first (H.264 9.2; nC is 0 because no AC is ever coded). */
function writeDc(writer: BitWriter, level: number, plane: 'luma' | 'chroma'): void {
  const magnitude = Math.abs(level);
  if (magnitude === 0) {
    if (plane === 'luma') writer.bits(0b1, 1);
    else writer.bits(0b01, 2);
    return;
  }
  if (magnitude === 1) {
    if (plane === 'luma') writer.bits(0b01, 2);
    else writer.bits(0b1, 1);
    writer.bits(level < 0 ? 1 : 0, 1);
  } else {
    writer.bits(plane === 'luma' ? 0b000101 : 0b000111, 6);
    writeLevel(writer, 2 * magnitude - (level > 0 ? 4 : 3));
  }
  writer.bits(1, 1); // total_zeros = 0
}

/** level_prefix and level_suffix at suffixLength 0 (H.264 9.2.2.1). */
function writeLevel(writer: BitWriter, levelCode: number): void {
  const prefix = levelCode < 14 ? levelCode : levelCode < 30 ? 14 : 15;
  writer.bits(1, prefix + 1);
  if (prefix === 14) writer.bits(levelCode - 14, 4);
  if (prefix === 15) writer.bits(levelCode - 30, 12);
}

/** Adds the stop bit, the header byte, and the emulation prevention of H.264 7.4.1. */
function nalUnit(header: number, writer: BitWriter): Buffer {
  writer.bits(1, 1);
  const payload = writer.finish(0);
  const out = Buffer.allocUnsafe(1 + Math.ceil(payload.length * 1.5) + 1);
  out[0] = header;
  let length = 1;
  let zeros = 0;
  for (const byte of payload) {
    if (zeros >= 2 && byte <= 3) {
      out[length] = 3;
      length += 1;
      zeros = 0;
    }
    out[length] = byte;
    length += 1;
    zeros = byte === 0 ? zeros + 1 : 0;
  }
  return Buffer.from(out.subarray(0, length));
}
