import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import { promisify } from 'node:util';
import { type Config, findSandbox } from '@stowage/core';
import { type Finding, ok, reasonOf, warn } from './findings.js';

const run = promisify(execFile);
const timeoutMs = 20_000;

const programs = [
	{ name: 'ffmpeg', args: ['-version'], for: 'thumbnails of videos', package: 'ffmpeg' },
	{ name: 'ffprobe', args: ['-version'], for: 'conversions of videos', package: 'ffmpeg' },
	{ name: 'pdftoppm', args: ['-v'], for: 'thumbnails of PDFs', package: 'poppler-utils' },
	{ name: 'HandBrakeCLI', args: ['--version'], for: 'conversions of videos', package: 'handbrake-cli' },
	{
		name: 'bwrap',
		args: ['--ro-bind', '/', '/', 'true'],
		for: 'the strongest sandbox of decoders and conversions',
		package: 'bubblewrap',
	},
] as const;

/** The programs of the enabled plugins. */
export async function checkPrograms(config: Config): Promise<Finding[]> {
	const found = programs.map(async (program) => {
		try {
			const { stdout, stderr } = await run(program.name, program.args, { timeout: timeoutMs });
			const [line = ''] = `${stdout}${stderr}`.trim().split('\n');
			return ok(program.name, /\d/.test(line) ? line : 'runs');
		} catch (error) {
			const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT';
			return warn(
				program.name,
				`${isMissing ? 'is not there' : `does not run (${reasonOf(error)})`}: no ${program.for}`,
				isMissing ? `apt install ${program.package}` : `Run it by hand as the server's user and see what it says.`,
			);
		}
	});
	return [...(await Promise.all(found)), await checkSandbox(), ...checkSharp(config)];
}

/** Both sandboxes are tried: which one the server has depends on what may be done where it runs. */
async function checkSandbox(): Promise<Finding> {
	const what = 'sandbox of decoders';
	const [strongest, landlock] = await Promise.all([findSandbox(), findSandbox({ bwrap: false })]);
	if (strongest === undefined) {
		return warn(
			what,
			'neither bubblewrap nor Landlock works here: no conversions of videos, and other programs that read the contents of files run with limits only',
			'apt install bubblewrap, or use a kernel with Landlock (5.13 or later, `landlock` in /sys/kernel/security/lsm)',
		);
	}
	if (strongest.kind === 'landlock') return ok(what, strongest.description);
	const elsewhere = landlock?.description ?? 'none, this kernel has no Landlock';
	return ok(what, `${strongest.description}; below a systemd unit without --sandbox: ${elsewhere}`);
}

function checkSharp({ plugins }: Config): Finding[] {
	if (!plugins.has('@stowage/preview')) return [];
	try {
		createRequire(import.meta.resolve('@stowage/preview'))('sharp');
		return [ok('sharp', 'can be loaded')];
	} catch (error) {
		return [warn('sharp', `can't be loaded, so no photo has a thumbnail: ${reasonOf(error)}`, 'npm install')];
	}
}
