import { mkdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from './build.js';
import { stagePackage } from './packaging/stage.js';
import { must, root } from './run.js';

/** Makes `stowage-<version>.tgz` in a folder and resolves to its path. */
export async function makeTarball(folder) {
	await build();
	const staged = path.join(folder, 'staged');
	await mkdir(folder, { recursive: true });
	const { name, version } = await stagePackage(staged);
	await must('npm', ['pack', '--silent', '--pack-destination', folder], {
		cwd: staged,
		stdio: ['ignore', 'ignore', 'inherit'],
	});
	await rm(staged, { recursive: true });
	return path.join(folder, `${name}-${version}.tgz`);
}

if (process.argv[1] !== undefined && path.resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
	const { ensureInstalled } = await import('./install.js');
	await ensureInstalled();
	console.log(await makeTarball(path.resolve(process.argv[2] ?? path.join(root, 'tmp'))));
}
