import type { Server } from '@hapi/hapi';

/** The route that was registered already, and by which plugin, where hapi has refused a new one for it. */
export function takenRoute(server: Server, error: unknown): { path: string; plugin: string } | undefined {
	if (!(error instanceof Error)) return undefined;
	const [, path] = /^New route \S+ conflicts with existing (\S+)$/.exec(error.message) ?? [];
	const taken = server.table().find((each) => each.path === path);
	return path === undefined || taken === undefined ? undefined : { path, plugin: taken.realm.plugin };
}
