import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import { promisify } from 'node:util';
import type { Config } from '@stowage/core';
import { type Finding, ok, reasonOf, warn } from './findings.js';

const run = promisify(execFile);
const timeoutMs = 20_000;

const programs = [
	{ name: 'ffmpeg', args: ['-version'], for: 'thumbnails of videos', package: 'ffmpeg' },
	{ name: 'pdftoppm', args: ['-v'], for: 'thumbnails of PDFs', package: 'poppler-utils' },
	{ name: 'HandBrakeCLI', args: ['--version'], for: 'conversions of videos', package: 'handbrake-cli' },
	{ name: 'bwrap', args: ['--ro-bind', '/', '/', 'true'], for: 'the sandbox of conversions', package: 'bubblewrap' },
] as const;

/** The programs of the enabled plugins. */
export async function checkPrograms(config: Config): Promise<Finding[]> {
	const found = programs.map(async (program) => {
		try {
			const { stdout, stderr } = await run(program.name, program.args, { timeout: timeoutMs });
			const [line = ''] = `${stdout}${stderr}`.trim().split('\n');
			return ok(program.name, /\d/.test(line) ? line.slice(0, 60) : 'runs');
		} catch (error) {
			const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT';
			return warn(
				program.name,
				`${isMissing ? 'is not there' : `does not run (${reasonOf(error).split('\n')[0]})`}: no ${program.for}`,
				isMissing ? `apt install ${program.package}` : `Run it by hand as the server's user and see what it says.`,
			);
		}
	});
	return [...(await Promise.all(found)), ...checkSharp(config)];
}

function checkSharp({ plugins }: Config): Finding[] {
	if (!plugins.has('@stowage/preview')) return [];
	try {
		createRequire(import.meta.resolve('@stowage/preview'))('sharp');
		return [ok('sharp', 'can be loaded')];
	} catch (error) {
		return [
			warn('sharp', `can't be loaded, so no photo has a thumbnail: ${reasonOf(error).split('\n')[0]}`, 'npm install'),
		];
	}
}
