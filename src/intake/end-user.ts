const invisible = /\p{Cf}|\p{Cc}|\p{Zl}|\p{Zp}|\p{Default_Ignorable_Code_Point}/gu;

export const endUserCharactersMax = 256;

/** Prevents an end user from evading caps with a different spelling that looks the same. */
export function canonicalEndUser(name: string): string {
  return name.normalize('NFKC').replaceAll(invisible, '').trim();
}
