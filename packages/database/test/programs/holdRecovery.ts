import { once } from 'node:events';
import { closeSync, openSync, readSync, writeSync } from 'node:fs';
import koffi from 'koffi';

const writeLock = 120n;
const recoverLock = 122n;
const headerBytes = 96;

const [, , path = ''] = process.argv;
const file = openSync(`${path}-shm`, 'r+');
setLocks(true);
const header = Buffer.alloc(headerBytes);
readSync(file, header, 0, headerBytes, 0);
writeSync(file, Buffer.alloc(headerBytes, 1), 0, headerBytes, 0);
process.stdout.write('held\n');
process.stdin.resume();
await once(process.stdin, 'end');
writeSync(file, header, 0, headerBytes, 0);
setLocks(false);
closeSync(file);

/**
 * Locks of the shared memory of a database as a process has them that puts its header right (SQLite, Write-Ahead Log File Format,
 * 2.3.2).
 */
function setLocks(isHeld: boolean): void {
	const fcntl = koffi.load(null).func('int fcntl(int, int, void *)');
	const setLock = 6;
	for (const at of [writeLock, recoverLock]) {
		const lock = Buffer.alloc(32);
		lock.writeInt16LE(isHeld ? 1 : 2, 0);
		lock.writeBigInt64LE(at, 8);
		lock.writeBigInt64LE(1n, 16);
		if (fcntl(file, setLock, lock) !== 0) throw new Error('The lock is taken.');
	}
}
