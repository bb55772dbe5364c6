import { createRequire } from 'node:module';
import { type Config, findProgram, findSandbox, runAlone, type Sandbox } from '@stowage/core';
import { type Finding, ok, reasonOf, warn } from './findings.js';

const timeoutMs = 20_000;

/** The programs that plugins start. A plugin's option of that name may set another program or turn it off. */
const programs = [
	{
		name: 'ffmpeg',
		args: ['-version'],
		for: 'thumbnails of videos',
		package: 'ffmpeg',
		plugin: '@stowage/preview',
		option: 'ffmpeg',
	},
	{
		name: 'ffprobe',
		args: ['-version'],
		for: 'conversions of videos',
		package: 'ffmpeg',
		plugin: '@stowage/handbrake',
		option: 'ffprobe',
	},
	{
		name: 'pdftoppm',
		args: ['-v'],
		for: 'thumbnails of PDFs',
		package: 'poppler-utils',
		plugin: '@stowage/preview',
		option: 'pdftoppm',
	},
	{
		name: 'HandBrakeCLI',
		args: ['--version'],
		for: 'conversions of videos',
		package: 'handbrake-cli',
		plugin: '@stowage/handbrake',
		option: 'handbrake',
	},
	{
		name: 'bwrap',
		args: ['--ro-bind', '/', '/', 'true'],
		for: 'the strongest sandbox of decoders and conversions',
		package: 'bubblewrap',
		plugin: '@stowage/handbrake',
		option: 'bwrap',
	},
] as const;

/** The programs of the enabled plugins, as these are configured. */
export async function checkPrograms(config: Config): Promise<Finding[]> {
	const found = programs.map(async ({ plugin, option, ...program }) => {
		const options = config.plugins.get(plugin);
		const file = options?.[option] ?? program.name;
		return options === undefined || file === false ? [] : [await checkProgram(String(file), program)];
	});
	// Both sandboxes are tried: which one the server has depends on what may be done where it runs.
	const [strongest, landlock] = await Promise.all([findSandbox(), findSandbox({ bwrap: false })]);
	return [
		...(await Promise.all(found)).flat(),
		sandboxFinding(strongest, landlock),
		...(await checkConversions(config)),
		...checkSharp(config),
	];
}

type Program = Pick<(typeof programs)[number], 'name' | 'args' | 'for' | 'package'>;

async function checkProgram(file: string, program: Program): Promise<Finding> {
	// As the server finds it: a program of the system may lie outside of its PATH.
	const found = await findProgram(file);
	if (found === undefined) {
		const message = `${file === program.name ? '' : `${file} `}is not there: no ${program.for}`;
		return warn(program.name, message, `apt install ${program.package}`);
	}
	try {
		const { stdout, stderr } = await runAlone(found, program.args, { timeout: timeoutMs });
		const [line = ''] = `${stdout}${stderr}`.trim().split('\n');
		return ok(program.name, /\d/.test(line) ? line : 'runs');
	} catch (error) {
		const message = `does not run (${reasonOf(error)}): no ${program.for}`;
		return warn(program.name, message, `Run it by hand as the server's user and see what it says.`);
	}
}

type FoundSandbox = Pick<Sandbox, 'kind' | 'description'> | undefined;

/** The strongest sandbox that works here, and the one without bubblewrap. */
export function sandboxFinding(strongest: FoundSandbox, landlock: FoundSandbox): Finding {
	const what = 'sandbox of decoders';
	if (strongest === undefined) {
		return warn(
			what,
			'neither bubblewrap nor Landlock works here: no conversions of videos, and other programs that read the contents of files run with limits only',
			'apt install bubblewrap, or use a kernel with Landlock (5.13 or later, `landlock` in /sys/kernel/security/lsm)',
		);
	}
	if (strongest.kind === 'unknown') {
		return warn(
			what,
			'could not be found out, since the programs that try it were ended or lacked memory, processes or descriptors: as long as this is so for the server, it decodes and converts nothing',
			'Run this again later, and see whether a limit of this machine is too low.',
		);
	}
	if (strongest.kind === 'landlock') return ok(what, strongest.description);
	const elsewhere = landlock?.description ?? 'none, this kernel has no Landlock';
	return ok(what, `${strongest.description}; below a systemd unit without --sandbox: ${elsewhere}`);
}

/** The sandbox of conversions where the options of their plugin say another than that of decoders, or that there may be none. */
async function checkConversions({ plugins }: Config): Promise<Finding[]> {
	const options = plugins.get('@stowage/handbrake') ?? {};
	const { bwrap = 'bwrap', landlock = true, allowWithoutSandbox = false } = options;
	if (!['bwrap', 'landlock', 'allowWithoutSandbox'].some((option) => option in options)) return [];
	const what = 'sandbox of conversions';
	const program = bwrap === false ? undefined : await findProgram(String(bwrap));
	const sandbox = await findSandbox({ bwrap: program ?? false, landlock: landlock !== false });
	if (sandbox?.kind === 'unknown') {
		return [
			warn(
				what,
				'could not be found out: as long as this is so for the server, it converts nothing',
				'Run this again later.',
			),
		];
	}
	if (sandbox !== undefined) return [ok(what, sandbox.description)];
	return [
		allowWithoutSandbox === true
			? warn(
					what,
					'none: HandBrake runs with limits only, so a video that takes it over reads what the server can read',
					'Take `allowWithoutSandbox` out of the options of @stowage/handbrake, and let it use bubblewrap or Landlock.',
				)
			: warn(
					what,
					'none with the options of @stowage/handbrake, so no videos are converted',
					'Take `bwrap` and `landlock` out of these options, or install what they name.',
				),
	];
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
