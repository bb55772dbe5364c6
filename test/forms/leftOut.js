const socket = 'a socket belongs to the primary process of several servers, which test/workers.test.ts has';
const ownCount = 'counts what one process writes or does, as each of them does for itself';
const inMemory = 'looks at what one process has in memory';
const offset =
	'the offset that another process gives is the last recorded one, and does not wait for a cut or silent writer';
const advance =
	'the quota is so small that what each process takes from it in advance counts; test/quotaAcross.test.ts fills homes';
const fullDatabase =
	'over a full database a process tells others nothing: it keeps in memory who has signed out and what was guessed';
const disk = 'each process reserves the room of the disk for its own uploads only';
const everywhere = ['workers', 'processes', 'nodes'];

/** What the runs with several servers in place of each one leave out: titles (`*` is any text), in which forms, and why. */
export const leftOut = [
	{ title: '*at a unix socket', forms: everywhere, reason: socket },
	{ title: 'a unix socket left by a crash is replaced,*', forms: everywhere, reason: socket },
	{ title: 'counted alone: *', forms: everywhere, reason: advance },
	{ title: 'counted with others: *', forms: everywhere, reason: advance },
	{ title: 'an empty file is created unless its name is taken or invalid,*', forms: everywhere, reason: advance },
	{ title: 'what somebody has begun to upload keeps no room of the owner’s*', forms: everywhere, reason: advance },
	{ title: 'signing out on a full disk ends the session at once,*', forms: everywhere, reason: fullDatabase },
	{
		title: 'on a full disk users can sign in, and wrong passwords are still limited',
		forms: everywhere,
		reason: fullDatabase,
	},
	{ title: 'the ranges of one file are merged into one line,*', forms: everywhere, reason: ownCount },
	{ title: 'repeated 503 answers of a route are one log line without a stack', forms: everywhere, reason: ownCount },
	{
		title: 'concurrent uploads of unknown size never use the reserved space',
		forms: everywhere,
		reason: disk,
	},
	{
		title: 'a reload applies the settings that can change at once,*',
		forms: everywhere,
		reason: 'compares them with those of a server that serves alone',
	},
	{
		title: 'a change of the roots that a process of the machine has not read is undone,*',
		forms: everywhere,
		reason: 'all servers of the run have the PID of the test, which it expects to be named once',
	},
	{ title: 'bytes that arrived before the connection was cut are kept,*', forms: everywhere, reason: offset },
	{ title: 'a new connection continues at once after the bytes of a stalled one', forms: everywhere, reason: offset },
	{ title: 'a second writer is refused while the first one sends bytes,*', forms: everywhere, reason: offset },
	{ title: 'a stopping server removes an unfinished form,*', forms: everywhere, reason: offset },
	{
		title: 'an upload under way ends with the role, and leaves nothing in the folder',
		forms: everywhere,
		reason: inMemory,
	},
	{
		title: 'an upload whose folder was renamed while it arrived is published in it',
		forms: everywhere,
		reason: inMemory,
	},
	{ title: 'many ranges are a few writes', forms: everywhere, reason: ownCount },
	{
		title: 'a further disk that does not answer keeps no node from saying that it can serve',
		forms: everywhere,
		reason: 'lets a disk of one process hang',
	},
	{
		title: 'an upload in use survives a clock that is set ahead by years',
		forms: everywhere,
		reason: 'sets the clock ahead of a process that has not seen the upload in use',
	},
	{ title: 'many ranges are a few writes', forms: everywhere, reason: ownCount },
	{
		title: 'a further disk that does not answer keeps no node from saying that it can serve',
		forms: everywhere,
		reason: 'lets a disk of one process hang',
	},
	{
		title: 'an upload in use survives a clock that is set ahead by years',
		forms: everywhere,
		reason: 'sets the clock ahead of a process that has not seen the upload in use',
	},
	{ title: 'of the forms of a visitor under way each worker has its share', forms: everywhere, reason: ownCount },
	{ title: 'space that other uploads are filling is not available until they stall', forms: everywhere, reason: disk },
	{ title: 'all uploads of one client claim at most a share of the free space,*', forms: everywhere, reason: disk },
	{
		title: 'further requests for the last bytes of a ZIP do not read its small files again',
		forms: everywhere,
		reason: inMemory,
	},
	{ title: 'two archives of a client are read for their checksums at once,*', forms: everywhere, reason: ownCount },
	{ title: 'two archives of a client are listed at once,*', forms: everywhere, reason: ownCount },
	{ title: 'fifty concurrent requests for one thumbnail render it once', forms: everywhere, reason: ownCount },
	{
		title: 'a request beyond the limit of waiting ones is answered 503 with Retry-After,*',
		forms: everywhere,
		reason: ownCount,
	},
	{
		title: 'a sign-in from another address is served before most of forty concurrent registrations from one address',
		forms: everywhere,
		reason: ownCount,
	},
	{
		title: 'what members bring counts in the quota of the owner, and not in their own',
		forms: everywhere,
		reason: advance,
	},
	{
		title: 'a call with Prefer: respond-async that takes less than a second gets the same response as one without',
		forms: everywhere,
		reason: advance,
	},
	{ title: 'a server that can’t write its audit log keeps serving,*', forms: everywhere, reason: ownCount },
	{ title: 'of two processes over one data folder one builds the index,*', forms: everywhere, reason: inMemory },
	{
		title: 'only one of ten concurrent confirmations turns it on',
		forms: everywhere,
		reason: 'the first one replaces the session, which a later one at another process finds ended',
	},
	{
		title: 'a user lists, reads, cancels and retries their jobs,*',
		forms: everywhere,
		reason: 'defines a kind of jobs in one process, which another one then can’t retry',
	},
	{ title: 'what changes nothing is not recorded', forms: everywhere, reason: ownCount },
];
