import type { Files, JobStarter, PluginLog } from '@stowage/plugin-api';
import type { Conversion } from '../conversion.js';
import type { EncodedReceipts } from '../EncodedReceipts.js';
import type { HandBrake } from '../HandBrake.js';

/** What a conversion works with. */
export interface ConvertDependencies {
	files: Files;
	handbrake: HandBrake;
	log: PluginLog;
	/** Where the content of a storage without local files is copied to meanwhile. */
	temporaryFolder: string;
	timeLimitMs: number;
	/** `JobStarter.takeSaved` of conversions. */
	takeSaved: JobStarter<Conversion>['takeSaved'];
	receipts: EncodedReceipts;
}
