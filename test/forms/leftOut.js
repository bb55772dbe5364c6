const socket = 'a socket belongs to the primary process of several servers, which test/workers.test.ts has';
const ownCount = 'counts what one process writes or does, as each of them does for itself';
const ownPlaces =
	'counts the places of a queue, of which each process has its share, and at least one, and its own order of those who wait';
const inMemory = 'looks at what one process has in memory';
const fullDatabase = 'over a full database only workers can tell each other something';
const diskUse = 'nodes with data folders of their own don’t hear what the others are about to write';
const ownPictures = 'counts what is rendered, and each node keeps its own pictures';
const ownMetrics =
	'each process serves what it has counted itself; workers have their primary process serve the sums, which test/workers.test.ts has';
const severalMachines = ['processes', 'nodes'];

/**
 * What the runs with several servers in place of each one leave out: titles (`*` is any text), in which forms, by
 * default in all, and why.
 */
export const leftOut = [
	{ title: '*at a unix socket', reason: socket },
	{ title: 'a unix socket left by a crash is replaced,*', reason: socket },
	{ title: 'the ranges of one file are merged into one line,*', reason: ownCount },
	{ title: 'repeated 503 answers of a route are one log line without a stack', reason: ownCount },
	{
		title: 'a reload applies the settings that can change at once,*',
		reason: 'compares them with those of a server that serves alone',
	},
	{
		title: 'a change of the roots that a process of the machine has not read is undone,*',
		reason: 'all servers of the run have the PID of the test, which it expects to be named once',
	},
	{
		title: 'the URL for an external viewer ends after ten minutes,*',
		forms: ['workers', 'processes', 'nodes'],
		reason: 'each process measures the time since it has seen an address by a clock of its own',
	},
	{ title: 'an upload under way ends with the role, and leaves nothing in the folder', reason: inMemory },
	{ title: 'an upload whose folder was renamed while it arrived is published in it', reason: inMemory },
	{ title: 'a form whose folder was renamed while it arrived is published in it,*', reason: inMemory },
	{ title: 'what arrives of * is broken off with the session, and has no effect', reason: inMemory },
	{ title: 'many ranges are a few writes', reason: ownCount },
	{
		title: 'a further disk that does not answer keeps no node from saying that it can serve',
		reason: 'lets a disk of one process hang',
	},
	{ title: 'however often strangers ask whether the server is ready,*', reason: ownCount },
	{ title: 'a disk that hangs is asked once,*', reason: ownCount },
	{ title: 'a disk that hangs between its check and its size*', reason: ownCount },
	{ title: 'a database that does not answer has one ping under way,*', reason: ownCount },
	{
		title: 'a change of a process that stood still while others moved the home is to be repeated,*',
		reason: 'lets one process stand still, and it asks one of them only',
	},
	{
		title: 'an upload in use survives a clock that is set ahead by years',
		reason: 'sets the clock ahead of a process that has not seen the upload in use',
	},
	{ title: 'of the forms of a visitor under way each worker has its share', reason: ownPlaces },
	{ title: 'further requests for the last bytes of a ZIP do not read its small files again', reason: inMemory },
	{ title: 'two searches of a client run at once,*', reason: ownPlaces },
	{ title: 'a visitor who has had little of the decoders comes before those who have had much,*', reason: ownPlaces },
	{ title: 'forty concurrent sign-ins from one address all succeed,*', reason: ownPlaces },
	{ title: 'one who begins an upload does not wait for all those that somebody else begins', reason: ownPlaces },
	{
		title: 'who lists one folder has a turn before those that others ask for at once,*',
		reason: ownPlaces,
	},
	{
		title: 'who makes a ticket or restores a version has a turn before those that others ask for at once',
		reason: ownPlaces,
	},
	{
		title: 'who changes one thing has a turn before the changes that somebody else asks for at once',
		reason: ownPlaces,
	},
	{ title: 'a change that waits for its turn is not made once its session has ended', reason: ownPlaces },
	{ title: 'a change whose turn comes at once looks at its session once,*', reason: ownPlaces },
	{ title: 'two archives of a client are read for their checksums at once,*', reason: ownPlaces },
	{ title: 'two archives of a client are listed at once,*', reason: ownPlaces },
	{ title: 'lists of links wait in the queue of walks,*', reason: ownPlaces },
	{ title: 'the sizes of folders that are deleted by the dozen are written together,*', reason: ownCount },
	{ title: 'fifty concurrent requests for one thumbnail render it once', reason: ownCount },
	{ title: 'a request beyond the limit of waiting ones is answered 503 with Retry-After,*', reason: ownPlaces },
	{
		title: 'a sign-in from another address is served before most of forty concurrent registrations from one address',
		reason: ownPlaces,
	},
	{ title: 'a server that can’t write its audit log keeps serving,*', reason: ownCount },
	{ title: 'of two processes over one data folder one builds the index,*', reason: inMemory },
	{
		title: 'only one of ten concurrent confirmations turns it on',
		reason: 'the first one replaces the session, which a later one at another process finds ended',
	},
	{
		title: 'a user lists, reads, cancels and retries their jobs,*',
		reason: 'defines a kind of jobs in one process, which another one then can’t retry',
	},
	{ title: 'what changes nothing is not recorded', reason: ownCount },
	{
		title: '* that nobody reads is kept in memory twice for an address, and given up with its connection',
		reason: inMemory,
	},
	{ title: 'large JSON bodies are limited to 16 MB by address and 48 MB in total,*', reason: inMemory },
	{ title: 'a body of unknown length counts by the bytes that have arrived', reason: inMemory },
	{ title: 'connections are limited by address, and closed ones make room for new ones', reason: ownPlaces },
	{ title: 'concurrent requests are limited for each client behind a trusted proxy', reason: ownPlaces },
	{
		title: 'two nodes over one MariaDB must have one session key,*',
		reason: 'starts the nodes that it names itself, and expects one row of each',
	},
	{
		title: 'a storage root that can’t be shared is used by one node, and by another one once that has ended',
		reason: 'each process sees within some seconds that the root is free, and it asks one of them only',
	},
	{
		title: 'a search finds what another node has changed within seconds,*',
		forms: severalMachines,
		reason: 'starts the nodes that it names itself, and expects one process of each',
	},
	{ title: 'metrics count requests and transfers by routes,*', reason: ownMetrics },
	{ title: 'an upload under way is counted as a transfer until it ends,*', reason: ownMetrics },
	{ title: 'only GET /metrics is served,*', reason: ownMetrics },
	{ title: 'an unavailable database is left out of the metrics,*', reason: ownMetrics },
	{ title: 'the space of a root is left out if its storage does not report it', reason: ownMetrics },
	{ title: 'a root whose disk hangs is down in the metrics,*', reason: ownMetrics },
	{
		title: 'a second writer is refused while the first one sends bytes,*',
		reason: 'its clock stands still, and so does the time for which another process waits for the first writer',
	},
	{
		title: 'what members bring counts in the quota of the owner, and not in their own',
		reason: 'a quota that was set holds in each process within five seconds, and it asks one of them only',
	},
	{ title: 'a user has at most 32 event streams,*', forms: severalMachines, reason: ownPlaces },
	{ title: 'signing out on a full disk ends the session at once,*', forms: severalMachines, reason: fullDatabase },
	{
		title: 'on a full disk users can sign in, and wrong passwords are still limited',
		forms: severalMachines,
		reason: fullDatabase,
	},
	{ title: 'concurrent uploads* of unknown size never use the reserved space', forms: ['nodes'], reason: diskUse },
	{
		title: 'what a user does is found at once, and what they take away is not',
		forms: ['nodes'],
		reason: 'each node has an index of its own, which hears of what another node has changed within some seconds',
	},
	{
		title: 'a thumbnail is WebP with private cache headers, and is rendered once for each size',
		forms: ['nodes'],
		reason: ownPictures,
	},
	{
		title: 'a conditional request for an unchanged thumbnail is answered 304,*',
		forms: ['nodes'],
		reason: ownPictures,
	},
	{ title: 'a file that can’t be rendered is remembered and not tried again', forms: ['nodes'], reason: ownPictures },
	{
		title: 'a damaged byte in the copy fails the move, and the home stays where it was',
		reason: 'damages what one process copies, and another one may run the move',
	},
	{
		title: 'space that other uploads are filling is not available until they stall',
		forms: ['nodes'],
		reason: diskUse,
	},
	{
		title: 'space that uploads at another process are filling is not available until they end,*',
		forms: ['nodes'],
		reason: diskUse,
	},
	{
		title: 'all uploads of one client claim at most a share of the free space,*',
		forms: ['nodes'],
		reason: diskUse,
	},
];
