const invisible = /\p{Cf}|\p{Cc}|\p{Zl}|\p{Zp}|\p{Default_Ignorable_Code_Point}/gu;

export const endUserCharactersMax = 256;

/** Normalises an end user's name, so that a different spelling that looks the same cannot evade the user's caps. */
export function canonicalEndUser(name: string): string {
  return name.normalize('NFKC').replaceAll(invisible, '').trim();
}
