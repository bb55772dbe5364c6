import { constants } from 'node:fs';
import { open, readFile, readlink } from 'node:fs/promises';
import path from 'node:path';
import { listMounts } from '@stowage/plugin-api';

/** Linux's O_PATH: found, but not opened. */
const pathOnly = 0o10000000;

/**
 * Whether a file, folder or link lies on a mount that nobody can write to, such as a volume of a container with `:ro` or a ConfigMap. Not
 * where the mounts are those of this process alone, as in a sandboxed service: others may see the same file without that mount. Nor where
 * another mount opens it, or its content comes from a program of somebody else (FUSE). `at` has no links above its last part.
 */
export async function isOnReadOnlyMount(at: string): Promise<boolean> {
	const [own, first] = await Promise.all(['self', '1'].map((id) => readlink(`/proc/${id}/ns/mnt`).catch(() => id)));
	if (own !== first) return false;
	const [id, mounts] = await Promise.all([mountIdOf(at), listMounts()]);
	const mount = mounts.find((each) => each.id === id);
	if (!mount?.options.includes('ro') || mount.options.some((each) => /^user_id=[1-9]/.test(each))) return false;
	const place = path.join(mount.folder, path.relative(mount.point, at));
	return !mounts.some(
		({ device, folder, options }) =>
			device === mount.device && !options.includes('ro') && `${place}/`.startsWith(folder === '/' ? '/' : `${folder}/`),
	);
}

async function mountIdOf(at: string): Promise<string | undefined> {
	const opened = await open(at, pathOnly | constants.O_NOFOLLOW).catch(() => undefined);
	try {
		const text = await readFile(`/proc/self/fdinfo/${opened?.fd}`, 'utf8').catch(() => '');
		return /^mnt_id:\s*(\d+)$/m.exec(text)?.[1];
	} finally {
		await opened?.close();
	}
}
