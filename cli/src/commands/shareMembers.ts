import type { Services } from '@stowage/core';
import { Failure, type MemberRole, memberRoles, parsePath } from '@stowage/rules';
import type { Command } from 'commander';
import { appCommand } from '../commandLine/appCommand.js';
import { printLine, printList } from '../terminal/output.js';

/** The parts of `share` for folders with members. */
export function memberCommands(): Command[] {
	return [
		appCommand<{ json?: boolean }>({
			usage: 'members [user]',
			description: 'list folders with members of everybody or of one user',
			examples: ['share members', 'share members ada --json'],
			run: (services, [username], { json }) => listFolders(services, username, json === true),
		}).option('--json', 'as JSON'),
		appCommand({
			usage: 'set-members <user> <path> [members...]',
			description: 'make these, and nobody else, the members of a folder, each as name:view or name:edit',
			examples: ['share set-members ada photos/2030 bob:edit carol:view', 'share set-members ada photos/2030'],
			run: (services, [username = '', path = '', ...members]) => setMembers(services, username, path, members),
		}),
	];
}

async function listFolders({ accounts, members }: Services, name: string | undefined, json: boolean): Promise<void> {
	const folders = await members.folders(name === undefined ? undefined : (await accounts.find(name)).id);
	const shown = folders.map(({ owner, path, members: all }) => ({
		user: owner.username,
		path,
		members: all.map(({ user, role }) => ({ username: user.username, role })),
	}));
	await printList(shown, {
		json,
		columns: [{ title: 'USER' }, { title: 'PATH', fit: 'cut' }, { title: 'MEMBERS', fit: 'cut' }],
		row: ({ user, path, members: all }) => [
			user,
			path,
			all.map(({ username, role }) => `${username}:${role}`).join(' '),
		],
	});
}

async function setMembers(services: Services, name: string, path: string, wanted: readonly string[]): Promise<void> {
	const { id, username } = await services.accounts.find(name);
	const owner = { kind: 'user', id, username } as const;
	const { members: made } = await services.members.set(owner, parsePath(path), wanted.map(memberOf));
	if (made.length === 0) printLine('It has no members.');
	for (const member of made) printLine(`${member.username}:${member.role}`);
}

function memberOf(text: string): { username: string; role: MemberRole } {
	const [username = '', role = '', ...more] = text.split(':');
	const known = memberRoles.find((each) => each === role);
	if (username === '' || known === undefined || more.length > 0)
		throw new Failure('invalid', `${text}: must be a user name, a colon, and view or edit`);
	return { username, role: known };
}
