import { createApp, type Services } from '@stowage/core';
import { defaultLinkExpiration, Failure, type LinkExpiration, linkExpirations, parsePath } from '@stowage/rules';
import { Command, Option } from 'commander';
import { configOf, withSettings } from '../settings.js';

/** Managing temporary links, whether the server runs or not. */
export function linkCommand(): Command {
	return new Command('link')
		.description('manage temporary links')
		.addCommand(
			subcommand('add', 'make a link to something private of a user', addLink)
				.argument('<user>', 'whose it is')
				.argument('<path>', 'where it lies in the private area')
				.addOption(
					new Option('--expires <time>', 'how long it lives').choices(linkExpirations).default(defaultLinkExpiration),
				),
		)
		.addCommand(subcommand('list', 'list links, the newest first', listLinks).argument('[user]', 'of this user only'))
		.addCommand(
			subcommand('revoke', 'end a link at once', async ({ links }, [id = '']) => {
				await links.revoke(id);
				console.log('Revoked.');
			}).argument('<id>', 'as list prints it'),
		)
		.addCommand(
			subcommand('purge', 'forget links that have expired or whose item is gone', async ({ links }) => {
				console.log(`Forgot ${await links.purge()}.`);
			}),
		);
}

type Act = (services: Services, words: readonly string[], options: { expires?: LinkExpiration }) => Promise<void>;

const addLink: Act = async (services, [username = '', path = ''], { expires = defaultLinkExpiration }) => {
	const { id, username: name } = await userOf(services, username);
	const { token } = await services.links.make({ kind: 'user', id, username: name }, parsePath(path), expires);
	const { publicUrl, basePath } = services.config;
	// Without the address that people use only the path of the link is known.
	console.log(`${publicUrl === '' ? '' : new URL(publicUrl).origin}${basePath}/api/temp/${token}`);
};

const listLinks: Act = async (services, [username]) => {
	const ownerId = username === undefined ? undefined : (await userOf(services, username)).id;
	for (const { id, owner, state, expiresAt, downloads, path } of await services.links.list(ownerId)) {
		console.log([id, owner.username, state, new Date(expiresAt).toISOString(), downloads, path].join('\t'));
	}
};

async function userOf({ database }: Services, username: string) {
	const user = await database.users.find(username);
	if (user === undefined) throw new Failure('notFound', `There is no user ${username}.`);
	return user;
}

function subcommand(name: string, description: string, act: Act): Command {
	const command = withSettings(new Command(name).description(description));
	return command.action(async () => {
		const app = await createApp(configOf(command));
		try {
			await act(app.services, command.args, command.opts());
		} finally {
			await app.stop();
		}
	});
}
