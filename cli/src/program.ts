import { createRequire } from 'node:module';
import { Command } from 'commander';
import { auditCommand } from './commands/audit.js';
import { backupCommand, restoreCommand } from './commands/backup.js';
import { completionCommand } from './commands/completion.js';
import { configCommand } from './commands/config.js';
import { databaseCommand, migrateCommand } from './commands/database.js';
import { doctorCommand } from './commands/doctor.js';
import { jobCommand } from './commands/job.js';
import { linkCommand } from './commands/link.js';
import { publicCommand } from './commands/public.js';
import { rootCommand } from './commands/root.js';
import { serveCommand } from './commands/serve.js';
import { serviceCommand } from './commands/service.js';
import { userCommand } from './commands/user/index.js';

/** Both src and dist lie beside package.json. */
const { version } = createRequire(import.meta.url)('../package.json') as { version: string };

/** The whole command line. */
export function createProgram(): Command {
	const program = new Command('stowage')
		.description('Stowage: a self-hosted file browser and sharing server.')
		.version(version);
	return program
		.addCommand(serveCommand())
		.addCommand(userCommand())
		.addCommand(rootCommand())
		.addCommand(linkCommand())
		.addCommand(publicCommand())
		.addCommand(jobCommand())
		.addCommand(auditCommand())
		.addCommand(backupCommand())
		.addCommand(restoreCommand())
		.addCommand(migrateCommand())
		.addCommand(databaseCommand())
		.addCommand(doctorCommand())
		.addCommand(configCommand())
		.addCommand(serviceCommand())
		.addCommand(completionCommand(() => program));
}
