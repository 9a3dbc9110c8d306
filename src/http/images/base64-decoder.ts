const alphabet = /^[A-Za-z0-9+/]*$/;
const padding = /={1,2}$/;

export class Base64Decoder {
  private carry = '';
  private characters = 0;
  private padded = '';

  push(piece: string): Buffer | undefined {
    const found = padding.exec(piece)?.[0] ?? '';
    const text = piece.slice(0, piece.length - found.length);
    if (!alphabet.test(text) || (this.padded !== '' && text !== '')) return undefined;
    this.padded += found;
    this.characters += piece.length;
    if (this.padded.length > 2) return undefined;
    const all = this.carry + text;
    const whole = all.length - (all.length % 4);
    this.carry = all.slice(whole);
    return Buffer.from(all.slice(0, whole), 'base64');
  }

  end(): Buffer | undefined {
    if (this.characters === 0 || this.characters % 4 === 1) return undefined;
    return Buffer.from(this.carry, 'base64');
  }
}
