/** NFS, SMB (three generations), FUSE, Ceph, 9P, AFS and OCFS2, by the number that statfs gives. */
const remoteTypes = new Set([
	0x6969, 0x517b, 0xff534d42, 0xfe534d42, 0x65735546, 0x00c36400, 0x01021997, 0x5346414f, 0x7461636f,
]);

/** FUSE gives an object a new handle if it was not used for a while. */
const fuseType = 0x65735546;

export function hasLastingHandles(type: number): boolean {
	return type !== fuseType;
}

/** Whether a call on this kind of file system may wait for another machine or program, even for cached data. */
export function isRemoteFileSystem(type: number): boolean {
	return remoteTypes.has(type);
}
