import type { ListedShare, Services } from '@stowage/core';
import { parseByteSize } from '@stowage/core';
import { Failure, parsePath, type ShareMode, shareModes } from '@stowage/rules';
import { Command, Option } from 'commander';
import { appCommand } from '../commandLine/appCommand.js';
import { durationOf } from '../commandLine/durations.js';
import { resolveId } from '../commandLine/resolveId.js';
import { printEach, printJson, printLine, timeCell, timeText } from '../terminal/output.js';
import { readPassword } from '../terminal/readPassword.js';
import { memberCommands } from './shareMembers.js';

interface CreateOptions {
	mode: ShareMode;
	title?: string;
	message?: string;
	expires?: string;
	password?: boolean;
	maxDownloads?: string;
	maxUpload?: string;
	askName?: boolean;
}

/** Managing shares, whether the server runs or not. */
export function shareCommand(): Command {
	const command = new Command('share').description('manage shares, and folders with members');
	for (const each of memberCommands()) command.addCommand(each);
	return command
		.addCommand(
			appCommand<CreateOptions>({
				usage: 'create <user> <path> [paths...]',
				description: 'share items of the private area of a user, and print the address',
				examples: [
					'share create ada photos/2030 --expires 30d',
					'share create ada inbox --mode upload --ask-name --password',
				],
				run: (services, [username = '', ...paths], options) => createShare(services, username, paths, options),
			})
				.addOption(new Option('--mode <mode>', 'what guests may do').choices(shareModes).default('view'))
				.option('--title <text>', 'what its page is called')
				.option('--message <text>', 'what its page says')
				.option('--expires <time>', 'how long it lives, such as 30d; for good without it')
				.option('--password', 'ask for a password, or read it from standard input')
				.option('--max-downloads <number>', 'how many downloads it has')
				.option('--max-upload <size>', 'what it may receive in all, such as 10GB')
				.option('--ask-name', 'ask who sends files for their name'),
		)
		.addCommand(
			appCommand<{ json?: boolean }>({
				usage: 'list [user]',
				description: 'list shares of everybody or of one user, the newest first',
				examples: ['share list', 'share list ada --json'],
				run: (services, [username], { json }) => listShares(services, username, json === true),
			}).option('--json', 'as JSON'),
		)
		.addCommand(
			appCommand<{ json?: boolean }>({
				usage: 'show <id>',
				description: 'show one share, by the id that list prints or its beginning',
				examples: ['share show 5f0c6f4e'],
				run: (services, [id = ''], { json }) => showShare(services, id, json === true),
			}).option('--json', 'as JSON'),
		)
		.addCommand(
			appCommand({
				usage: 'remove <id>',
				description: 'delete a share at once, by the id that list prints or its beginning',
				examples: ['share remove 5f0c6f4e'],
				async run({ shares }, [id = '']) {
					await shares.remove(await resolveId(id, idsOf(shares)));
					printLine('Removed.');
				},
			}),
		);
}

async function* idsOf(shares: Services['shares']): AsyncGenerator<string> {
	for await (const { id } of shares.list()) yield id;
}

async function createShare(
	services: Services,
	name: string,
	paths: readonly string[],
	{ mode, title, message, expires, password, maxDownloads, maxUpload, askName }: CreateOptions,
): Promise<void> {
	const { id, username } = await services.accounts.find(name);
	const request = {
		...{ mode, asksName: askName === true, paths: paths.map((path) => parsePath(path)) },
		...(title === undefined ? {} : { title }),
		...(message === undefined ? {} : { message }),
		...(expires === undefined ? {} : { expiresAt: Date.now() + durationOf('--expires', expires) }),
		...(password === true ? { password: await readPassword('Password: ') } : {}),
		...(maxDownloads === undefined ? {} : { maxDownloads: countOf('--max-downloads', Number(maxDownloads)) }),
		...(maxUpload === undefined ? {} : { maxUploadBytes: countOf('--max-upload', parseByteSize(maxUpload)) }),
	};
	const caller = { address: '', signal: new AbortController().signal };
	printLine(addressOf(services, await services.shares.make({ kind: 'user', id, username }, request, caller)));
}

function countOf(option: string, count: number | undefined): number {
	if (count !== undefined && Number.isSafeInteger(count) && count > 0) return count;
	throw new Failure('invalid', `${option}: must be more than 0`);
}

/** The URL of a share; only its path where no public address is set. */
function addressOf({ config }: Services, { token }: ListedShare): string {
	if (token === undefined) return '(made with another key)';
	return `${config.publicUrl === '' ? '' : new URL(config.publicUrl).origin}${config.basePath}/s/${token}`;
}

async function listShares({ accounts, shares }: Services, name: string | undefined, json: boolean): Promise<void> {
	const found = shares.list(name === undefined ? undefined : (await accounts.find(name)).id);
	await printEach(found, {
		json,
		toJson: shareJson,
		columns: [
			...[{ title: 'ID' }, { title: 'USER' }, { title: 'MODE' }, { title: 'STATE' }, { title: 'EXPIRES' }],
			...[{ title: 'DOWNLOADS' }, { title: 'UPLOADS' }, { title: 'ITEMS', fit: 'cut' } as const],
		],
		row: (share) => [
			...[share.id, share.owner.username, share.mode, share.state],
			...[share.expiresAt === null ? 'never' : timeCell(share.expiresAt), share.downloads, share.uploads],
			share.items.map(({ path }) => path).join(', '),
		],
	});
}

async function showShare(services: Services, typed: string, json: boolean): Promise<void> {
	const { shares } = services;
	const share = await shares.get(await resolveId(typed, idsOf(shares)));
	const shown = { ...shareJson(share), address: addressOf(services, share) };
	if (json) return printJson(shown);
	for (const [name, value] of Object.entries(shown))
		printLine(`${name}: ${Array.isArray(value) ? value.join(', ') : (value ?? '-')}`);
}

function shareJson({ owner, items, createdAt, expiresAt, lastUsedAt, ...share }: ListedShare) {
	const { id, title, message, mode, state, maxDownloads, downloads, bytesSent } = share;
	const { maxUploadBytes, uploads, bytesReceived, asksName, passwordSecret } = share;
	return {
		...{ id, user: owner.username, title, message, mode, state, items: items.map(({ path }) => path) },
		...{ createdAt: timeText(createdAt), expiresAt: expiresAt === null ? null : timeText(expiresAt) },
		...{ hasPassword: passwordSecret !== null, askName: asksName, maxDownloads, downloads, bytesSent },
		...{ maxUploadBytes, uploads, bytesReceived, lastUsedAt: lastUsedAt === null ? null : timeText(lastUsedAt) },
	};
}
