import { createApp, loadConfig } from '../../../packages/core/dist/index.js';

/**
 * A server that moves a home to another root and kills itself meanwhile: `dyingMove.js <flags as JSON> <user> <root>
 * <moment>`, where the moment is one of those below. All but the last two are while the home is frozen.
 */
const [flags = '{}', username = '', root = '', moment = ''] = process.argv.slice(2);
const defaultPlugins = ['@stowage/storage-local', '@stowage/auth-password'];
const app = await createApp(loadConfig({ flags: JSON.parse(flags), defaultPlugins }));
const { homeMoves, database } = app.services;
const { homes } = database;
const die = () => process.kill(process.pid, 'SIGKILL');
const { setFrozen, switchRoot, endMove } = homes;

if (moment === 'frozen') {
	homes.setFrozen = async (...given) => {
		await setFrozen.apply(homes, given);
		die();
	};
}
homes.switchRoot = async (...given) => {
	// The copy has its name on the new root, and the home is on the old one.
	if (moment === 'before the switch') die();
	const switching = switchRoot.apply(homes, given);
	if (moment === 'during the switch') setImmediate(die);
	const isSwitched = await switching;
	if (moment === 'after the switch') die();
	return isSwitched;
};
homes.endMove = async (...given) => {
	// The old tree was removed.
	if (moment === 'before the end') die();
	return endMove.apply(homes, given);
};

await app.start();
await homeMoves.start(username, root);
