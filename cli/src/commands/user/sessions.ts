import { accountFields, type Services, type SessionInfo } from '@stowage/core';
import { Failure, plural } from '@stowage/rules';
import { Command } from 'commander';
import { appCommand } from '../../commandLine/appCommand.js';
import { resolveId } from '../../commandLine/resolveId.js';
import { printLine, printList, type Row, timeCell, timeText } from '../../terminal/output.js';
import type { Column } from '../../terminal/table.js';

/** Who is signed in as a user, and ending that. */
export function sessionsCommand(): Command {
	return new Command('sessions')
		.description('list or end the sessions of a user')
		.addCommand(
			appCommand<{ json?: boolean }>({
				usage: 'list <name>',
				description: 'list the sessions of a user, the one used last first',
				examples: ['user sessions list ada', 'user sessions list ada --json'],
				async run({ accounts, sessions }, [name = ''], { json }) {
					const found = await sessions.list((await accounts.find(name)).id);
					await printList(found, {
						json,
						toJson: sessionJson,
						columns: sessionColumns('ID'),
						row: sessionRow,
					});
				},
			}).option('--json', 'as JSON'),
		)
		.addCommand(
			appCommand<{ all?: boolean }>({
				usage: 'revoke <name> [id]',
				description: 'end a session of a user, by the id that list prints or its beginning, or all of them, at once',
				examples: ['user sessions revoke ada 3f1c0a9d2b4e5f60', 'user sessions revoke ada --all'],
				run: (services, [name = '', id], { all }) => revoke(services, name, id, all === true),
			}).option('--all', 'all sessions of the user'),
		);
}

async function revoke(
	{ accounts, audit, sessions, database }: Services,
	name: string,
	id: string | undefined,
	all: boolean,
): Promise<void> {
	if ((id === undefined) !== all) throw new Failure('invalid', 'Give the id of a session, or --all.');
	const user = await accounts.find(name);
	if (id !== undefined) {
		const ids = (await sessions.list(user.id)).map((session) => session.id);
		await sessions.endOne(user, await resolveId(id, ids));
	}
	const ended =
		id === undefined
			? await audit.recorded(
					{ action: 'endSessions', ...accountFields(user) },
					() => database.sessions.removeOf(user.id),
					(entries) => (entries === 0 ? undefined : { entries }),
				)
			: 1;
	printLine(`Ended ${plural(ended, 'session')}.`);
}

/** The columns of `sessionRow`, with the title of the id. */
export function sessionColumns(id: string): Column[] {
	return [
		...[{ title: id }, { title: 'BEGAN' }, { title: 'LAST USED' }, { title: 'ADDRESS' }],
		{ title: 'BROWSER', fit: 'cut' },
	];
}

export function sessionJson({ id, createdAt, lastSeenAt, userAgent, address }: SessionInfo) {
	return { id, createdAt: timeText(createdAt), lastSeenAt: timeText(lastSeenAt), userAgent, address };
}

export function sessionRow({ id, createdAt, lastSeenAt, userAgent, address }: SessionInfo): Row {
	return [id, timeCell(createdAt), timeCell(lastSeenAt), address ?? '', userAgent ?? ''];
}
