/** The processors that the filter knows: their numbers of calls differ. */
export type Processor = 'x64' | 'arm64';

/** How the kernel names a processor to a filter (AUDIT_ARCH). */
export const auditArch: Readonly<Record<Processor, number>> = { x64: 0xc000003e, arm64: 0xc00000b7 };

/** Numbers from here on are younger than this table: they do not exist for a program in a sandbox. */
export const firstUnknownCall = 463;

/** Calls that a program in a sandbox may never make, by what they would reach. Undefined where a processor has none. */
const refused: Readonly<Record<string, readonly [x64: number | undefined, arm64: number | undefined]>> = {
	// Sockets, but not reading and writing those that it was given.
	socket: [41, 198],
	connect: [42, 203],
	accept: [43, 202],
	bind: [49, 200],
	listen: [50, 201],
	socketpair: [53, 199],
	accept4: [288, 242],
	// Memory and messages shared with other processes of its user, and memory that no limit counts.
	shmget: [29, 194],
	shmat: [30, 196],
	shmctl: [31, 195],
	semget: [64, 190],
	semop: [65, 193],
	semctl: [66, 191],
	semtimedop: [220, 192],
	msgget: [68, 186],
	msgsnd: [69, 189],
	msgrcv: [70, 188],
	msgctl: [71, 187],
	mq_open: [240, 180],
	mq_unlink: [241, 181],
	memfd_create: [319, 279],
	memfd_secret: [447, 447],
	// Other processes, and leaving the group with which it is killed.
	setpgid: [109, 154],
	setsid: [112, 157],
	ptrace: [101, 117],
	tkill: [200, 130],
	rt_sigqueueinfo: [129, 138],
	rt_tgsigqueueinfo: [297, 240],
	pidfd_send_signal: [424, 424],
	pidfd_open: [434, 434],
	pidfd_getfd: [438, 438],
	process_vm_readv: [310, 270],
	process_vm_writev: [311, 271],
	process_madvise: [440, 440],
	process_mrelease: [448, 448],
	kcmp: [312, 272],
	migrate_pages: [256, 238],
	move_pages: [279, 239],
	// What Landlock does not check: attributes, watches, files by their handles, the locks that the server has on what it lends.
	flock: [73, 32],
	chmod: [90, undefined],
	fchmod: [91, 52],
	fchmodat: [268, 53],
	fchmodat2: [452, 452],
	chown: [92, undefined],
	fchown: [93, 55],
	lchown: [94, undefined],
	fchownat: [260, 54],
	utime: [132, undefined],
	utimes: [235, undefined],
	futimesat: [261, undefined],
	utimensat: [280, 88],
	truncate: [76, 45],
	setxattr: [188, 5],
	lsetxattr: [189, 6],
	fsetxattr: [190, 7],
	removexattr: [197, 14],
	lremovexattr: [198, 15],
	fremovexattr: [199, 16],
	mknod: [133, undefined],
	mknodat: [259, 33],
	inotify_init: [253, undefined],
	inotify_init1: [294, 26],
	inotify_add_watch: [254, 27],
	fanotify_init: [300, 262],
	fanotify_mark: [301, 263],
	name_to_handle_at: [303, 264],
	open_by_handle_at: [304, 265],
	// Mounts and namespaces.
	mount: [165, 40],
	umount2: [166, 39],
	pivot_root: [155, 41],
	chroot: [161, 51],
	open_tree: [428, 428],
	move_mount: [429, 429],
	fsopen: [430, 430],
	fsconfig: [431, 431],
	fsmount: [432, 432],
	fspick: [433, 433],
	mount_setattr: [442, 442],
	statmount: [457, 457],
	listmount: [458, 458],
	unshare: [272, 97],
	setns: [308, 268],
	// Parts of the kernel that no decoder needs and that had many holes.
	bpf: [321, 280],
	userfaultfd: [323, 282],
	perf_event_open: [298, 241],
	io_uring_setup: [425, 425],
	io_uring_enter: [426, 426],
	io_uring_register: [427, 427],
	add_key: [248, 217],
	request_key: [249, 218],
	keyctl: [250, 219],
	lookup_dcookie: [212, 18],
	modify_ldt: [154, undefined],
	personality: [135, 92],
	// The machine itself.
	acct: [163, 89],
	adjtimex: [159, 171],
	clock_adjtime: [305, 266],
	clock_settime: [227, 112],
	settimeofday: [164, 170],
	delete_module: [176, 106],
	finit_module: [313, 273],
	init_module: [175, 105],
	ioperm: [173, undefined],
	iopl: [172, undefined],
	kexec_file_load: [320, 294],
	kexec_load: [246, 104],
	quotactl: [179, 60],
	quotactl_fd: [443, 443],
	reboot: [169, 142],
	setdomainname: [171, 162],
	sethostname: [170, 161],
	swapoff: [168, 225],
	swapon: [167, 224],
	syslog: [103, 116],
	uselib: [134, undefined],
	vhangup: [153, 58],
};

/** Calls whose arguments decide. */
const judged = {
	clone: [56, 220],
	clone3: [435, 435],
	fallocate: [285, 47],
	fcntl: [72, 25],
	fork: [57, undefined],
	ioctl: [16, 29],
	ioprio_set: [251, 30],
	kill: [62, 129],
	mmap: [9, 222],
	open: [2, undefined],
	openat: [257, 56],
	openat2: [437, 437],
	prlimit64: [302, 261],
	sched_setaffinity: [203, 122],
	sched_setattr: [314, 274],
	sched_setparam: [142, 118],
	sched_setscheduler: [144, 119],
	setpriority: [141, 140],
	tgkill: [234, 131],
	vfork: [58, undefined],
} as const satisfies Readonly<Record<string, readonly [number | undefined, number | undefined]>>;

const columns: Readonly<Record<Processor, 0 | 1>> = { x64: 0, arm64: 1 };

/** The numbers of all calls that are refused. */
export function refusedCalls(processor: Processor): number[] {
	return Object.values(refused)
		.map((numbers) => numbers[columns[processor]])
		.filter((number) => number !== undefined);
}

/** The number of a call whose arguments decide; undefined where the processor has none. */
export function judgedCall(name: keyof typeof judged, processor: Processor): number | undefined {
	return judged[name][columns[processor]];
}
