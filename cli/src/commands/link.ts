import { type ListedLink, linksOf, type Services } from '@stowage/core';
import { defaultLinkExpiration, type LinkExpiration, linkExpirations, parsePath, plural } from '@stowage/rules';
import { Command, Option } from 'commander';
import { appCommand } from '../commandLine/appCommand.js';
import { resolveId } from '../commandLine/resolveId.js';
import { printEach, printLine, type Row, timeCell, timeText } from '../terminal/output.js';
import type { Column } from '../terminal/table.js';

/** Managing temporary links, whether the server runs or not. */
export function linkCommand(): Command {
	return new Command('link')
		.description('manage temporary links')
		.addCommand(
			appCommand<{ expires: LinkExpiration }>({
				usage: 'add <user> <path>',
				description: 'make a link to something in the private area of a user',
				examples: ['link add ada docs/report.pdf --expires 1w'],
				run: (services, [username = '', path = ''], { expires }) => addLink(services, username, path, expires),
			}).addOption(
				new Option('--expires <time>', 'how long it lives').choices(linkExpirations).default(defaultLinkExpiration),
			),
		)
		.addCommand(
			appCommand<{ json?: boolean }>({
				usage: 'list [user]',
				description: 'list links of everybody or of one user, the newest first',
				examples: ['link list', 'link list ada --json'],
				run: (services, [username], { json }) => listLinks(services, username, json === true),
			}).option('--json', 'as JSON'),
		)
		.addCommand(
			appCommand({
				usage: 'revoke <id>',
				description: 'end a link, by the id that list prints or its beginning, at once',
				examples: ['link revoke 5f0c6f4e-6a3c-4b2a-9d43-0d1f1f6b7a10'],
				async run({ database, links }, [id = '']) {
					await links.revoke(await resolveId(id, idsOfLinks(database)));
					printLine('Revoked.');
				},
			}),
		)
		.addCommand(
			appCommand({
				usage: 'purge',
				description: 'forget links that have expired or whose item is gone',
				examples: ['link purge'],
				async run({ links }) {
					printLine(`Forgot ${plural(await links.purge(), 'link')}.`);
				},
			}),
		);
}

async function* idsOfLinks({ links }: Services['database']): AsyncGenerator<string> {
	for await (const { id } of linksOf(links)) yield id;
}

async function addLink(services: Services, name: string, path: string, expires: LinkExpiration): Promise<void> {
	const { id, username } = await services.accounts.find(name);
	const { token } = await services.links.make({ kind: 'user', id, username }, parsePath(path), expires);
	const { publicUrl, basePath } = services.config;
	// Without the public address only the path of the link is known.
	printLine(`${publicUrl === '' ? '' : new URL(publicUrl).origin}${basePath}/api/temp/${token}`);
}

async function listLinks({ accounts, links }: Services, name: string | undefined, json: boolean): Promise<void> {
	const found = links.list(name === undefined ? undefined : (await accounts.find(name)).id);
	await printEach(found, {
		json,
		toJson: (link) => ({ id: link.id, user: link.owner.username, ...linkJson(link) }),
		columns: [{ title: 'ID' }, { title: 'USER' }, ...linkColumns],
		row: (link) => [link.id, link.owner.username, ...linkRow(link)],
	});
}

/** The columns of `linkRow`. */
export const linkColumns: readonly Column[] = [
	...[{ title: 'STATE' }, { title: 'EXPIRES' }, { title: 'DOWNLOADS' }],
	{ title: 'PATH', fit: 'cut' },
];

/** A link as JSON, without its id and its user. */
export function linkJson({ path, state, createdAt, expiresAt, downloads }: ListedLink) {
	return { path, state, createdAt: timeText(createdAt), expiresAt: timeText(expiresAt), downloads };
}

export function linkRow({ state, expiresAt, downloads, path }: ListedLink): Row {
	return [state, timeCell(expiresAt), downloads, path];
}
