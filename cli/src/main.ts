import { createProgram } from './program.js';

// The reader of the output has closed the pipe: `stowage audit | head`.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
	if (error.code === 'EPIPE') process.exit(0);
	throw error;
});

try {
	// Services are made and removed by root, also in the environment of a container.
	if (process.argv[2] !== 'service' && hasIds(process.env)) {
		const { dropPrivileges } = await import('./privileges/dropPrivileges.js');
		dropPrivileges(process.env);
	}
	const program = await createProgram(process.argv.slice(2));
	await program.parseAsync();
} catch (error) {
	const { explain } = await import('./terminal/explain.js');
	const { message, code } = explain(error);
	if (message !== undefined) {
		const { printError } = await import('./terminal/output.js');
		printError(message);
	}
	process.exit(code);
}

function hasIds({ PUID, PGID, UMASK }: NodeJS.ProcessEnv): boolean {
	return [PUID, PGID, UMASK].some((each) => each !== undefined);
}
