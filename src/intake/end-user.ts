/** Invisible characters, including those that set the direction of text. */
const invisible = /\p{Cf}|\p{Cc}|\p{Zl}|\p{Zp}|\p{Default_Ignorable_Code_Point}/gu;

/** Normalises an end user's name, so that a name that only looks the same cannot evade its caps. */
export function canonicalEndUser(name: string): string {
  return name.normalize('NFKC').replaceAll(invisible, '').trim();
}
