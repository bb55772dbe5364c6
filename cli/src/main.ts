import { setFlagsFromString } from 'node:v8';
import { keepDescriptors } from './privileges/keepDescriptors.js';
import { createProgram } from './program.js';

/**
 * V8 doubles the space for new objects whenever many of them stay, as all do while modules are loaded, and an idle
 * server would keep 32 MB for that. So it grows only once the server is ready.
 */
function setGrowth(factor: 1 | 2): void {
	setFlagsFromString(`--semi-space-growth-factor=${factor}`);
}

const isServer = process.argv[2] === 'serve';

let isEnding = false;

process.stdout.on('error', (error: NodeJS.ErrnoException) => {
	// The reader of the output has closed the pipe: `stowage audit | head`.
	if (error.code === 'EPIPE') process.exit(0);
	// It only says there that it is ready: a full disk of that file stops no server.
	if (isServer && error.code !== undefined) return;
	if (error.code === undefined) throw error;
	// Such as a file on a full disk, to which more lines come: `stowage audit > file`.
	if (!isEnding) void endWithoutOutput(error.code);
	isEnding = true;
});

async function endWithoutOutput(code: string): Promise<void> {
	const { printError } = await import('./terminal/output.js');
	printError(`The output can't be written (${code}), and is not complete.`);
	process.exit(1);
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
	await program.parseAsync();
	if (isServer) setGrowth(2);
} catch (error) {
	const { explain } = await import('./terminal/explain.js');
	const { message, code } = explain(error);
	if (message !== undefined) {
		const { printFault } = await import('./terminal/output.js');
		printFault(message);
	}
	process.exit(code);
}

function hasIds({ PUID, PGID, UMASK }: NodeJS.ProcessEnv): boolean {
	return [PUID, PGID, UMASK].some((each) => each !== undefined);
}
