import { setFlagsFromString } from 'node:v8';
import type { Command } from 'commander';
import { keepDescriptors } from './privileges/keepDescriptors.js';
import { createProgram } from './program.js';
import { endInTime, exitWithoutThreads } from './terminal/endInTime.js';

/**
 * V8 doubles the space for new objects whenever many of them stay, as all do while modules are loaded, and an idle
 * server would keep 32 MB for that. So it grows only once the server is ready.
 */
function setGrowth(factor: 1 | 2): void {
	setFlagsFromString(`--semi-space-growth-factor=${factor}`);
}

/** Commands that only print what is there, beside those that are called `list` or `show`. */
const printingCommands: ReadonlySet<string> = new Set([
	'audit',
	'completion',
	'config print',
	'search status',
	'service print',
	'share members',
]);

const isServer = process.argv[2] === 'serve';

/** Whether nothing is left half done if the process ends now: no command has begun, or one that only prints what is there. */
let mayEnd = true;

/** That of a program that SIGPIPE ends, which Node ignores. */
const brokenPipe = 141;

let isIncomplete = false;

process.stdout.on('error', (error: NodeJS.ErrnoException) => {
	const { code } = error;
	if (code === undefined) throw error;
	// It only says there that it is ready: neither a reader that ends nor a full disk of that file stops a server.
	if (isServer) return;
	// The reader of the output has closed the pipe: `stowage audit | head`. What changes something goes on without it.
	if (code === 'EPIPE') {
		if (mayEnd) exitWithoutThreads(brokenPipe);
		return;
	}
	// Such as a file on a full disk, to which more lines come: `stowage audit > file`.
	if (!isIncomplete) void reportIncomplete(code);
	isIncomplete = true;
});

// Nobody could be told.
process.stderr.on('error', () => {});

async function reportIncomplete(code: string): Promise<void> {
	const { printError } = await import('./terminal/output.js');
	printError(`The output can't be written (${code}), and is not complete.`);
	if (mayEnd) exitWithoutThreads(1);
	process.exitCode = 1;
}

try {
	if (isServer) setGrowth(1);
	keepDescriptors();
	// Services are made and removed by root, also in the environment of a container.
	if (process.argv[2] !== 'service' && hasIds(process.env)) {
		const { dropPrivileges } = await import('./privileges/dropPrivileges.js');
		dropPrivileges(process.env);
	}
	const program = await createProgram(process.argv.slice(2));
	program.hook('preAction', (_program, action) => {
		mayEnd = onlyPrints(nameOf(action));
	});
	await program.parseAsync();
	if (isServer) setGrowth(2);
	else void endInTime(Number(process.exitCode ?? 0));
} catch (error) {
	const { explain } = await import('./terminal/explain.js');
	const { message, code } = explain(error);
	if (message !== undefined) {
		const { printFault } = await import('./terminal/output.js');
		printFault(message);
	}
	if (isServer) exitWithoutThreads(code);
	void endInTime(code);
}

function onlyPrints(name: string): boolean {
	return printingCommands.has(name) || / (list|show)$/.test(name);
}

/** The name of a command with those above it, such as `user list`. */
function nameOf(command: Command): string {
	const { parent } = command;
	return parent?.parent ? `${nameOf(parent)} ${command.name()}` : command.name();
}

function hasIds({ PUID, PGID, UMASK }: NodeJS.ProcessEnv): boolean {
	return [PUID, PGID, UMASK].some((each) => each !== undefined);
}
