import { createRequire } from 'node:module';
import { Command } from 'commander';

/** Both src and dist lie beside package.json, to which packaging adds the version of the build. */
const { version, buildVersion = version } = createRequire(import.meta.url)('../package.json') as {
	version: string;
	buildVersion?: string;
};

/** The commands in the order of the help. Each is imported when it is used, since its dependencies are far larger than this program. */
const commands: ReadonlyMap<string, () => Promise<Command>> = new Map([
	['serve', async () => (await import('./commands/serve.js')).serveCommand()],
	['user', async () => (await import('./commands/user/index.js')).userCommand()],
	['root', async () => (await import('./commands/root.js')).rootCommand()],
	['link', async () => (await import('./commands/link.js')).linkCommand()],
	['share', async () => (await import('./commands/share.js')).shareCommand()],
	['search', async () => (await import('./commands/search.js')).searchCommand()],
	['trash', async () => (await import('./commands/trash.js')).trashCommand()],
	['versions', async () => (await import('./commands/versions.js')).versionsCommand()],
	['public', async () => (await import('./commands/public.js')).publicCommand()],
	['upload', async () => (await import('./commands/upload.js')).uploadCommand()],
	['job', async () => (await import('./commands/job.js')).jobCommand()],
	['audit', async () => (await import('./commands/audit.js')).auditCommand()],
	['backup', async () => (await import('./commands/backup.js')).backupCommand()],
	['restore', async () => (await import('./commands/backup.js')).restoreCommand()],
	['migrate', async () => (await import('./commands/database.js')).migrateCommand()],
	['database', async () => (await import('./commands/database.js')).databaseCommand()],
	['health', async () => (await import('./commands/health.js')).healthCommand()],
	['doctor', async () => (await import('./commands/doctor.js')).doctorCommand()],
	['config', async () => (await import('./commands/config/index.js')).configCommand()],
	['service', async () => (await import('./commands/service.js')).serviceCommand()],
	['completion', async () => (await import('./commands/completion.js')).completionCommand(createProgram)],
]);

/** The command line: as much of it as these words need, or all of it. */
export async function createProgram(words?: readonly string[]): Promise<Command> {
	const program = new Command('stowage')
		.description('Stowage: a self-hosted file browser and sharing server.')
		.version(buildVersion);
	const needed = await Promise.all(neededFor(words).map((make) => make()));
	for (const command of needed) program.addCommand(command);
	if (needed.length > 0) {
		const { usageOutput } = await import('./terminal/output.js');
		configureAll(program, (command) => command.configureOutput(usageOutput));
	}
	return program;
}

function configureAll(command: Command, configure: (command: Command) => void): void {
	configure(command);
	for (const each of command.commands) configureAll(each, configure);
}

function neededFor(words: readonly string[] = []): (() => Promise<Command>)[] {
	const [first = ''] = words;
	if (first === '--version' || first === '-V') return [];
	const typed = commands.get(first);
	// An unknown command is answered with the list of commands.
	return typed === undefined ? [...commands.values()] : [typed];
}
