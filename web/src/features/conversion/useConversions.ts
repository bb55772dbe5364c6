import { type Area, type Entry, isFailure } from '@stowage/rules';
import { useQueries, useQueryClient } from '@tanstack/react-query';
import { useEffect, useState, useSyncExternalStore } from 'react';
import { fetchConversion } from '../../api/jobs/conversions.js';
import { isActive } from '../../api/jobs/jobs.js';
import { queryKeys } from '../../api/queryKeys.js';
import { isReplaced, signedInAs } from '../../api/session/sessionQuery.js';
import { useFrame } from '../../ui/frame.js';
import { useNotify } from '../../ui/notifications/useNotify.js';
import { useLatest } from '../../ui/useLatest.js';
import { ConversionRun } from './ConversionRun.js';
import {
	type Conversion,
	type ConversionChoice,
	type OverallState,
	outputPaths,
	overallState,
	withStatus,
} from './conversionState.js';
import type { ConversionProblem, ConversionsState } from './conversions.js';
import { conversionMessages as messages } from './messages.js';
import type { LeftConversions } from './useBackgroundConversions.js';

/** The polling interval of a conversion's status (spec, section 9). */
const pollMs = 2000;

export interface Conversions {
	state: OverallState;
	conversions: readonly Conversion[];
	isStarting: boolean;
	startProblem: ConversionProblem | undefined;
	cancelProblem: ConversionProblem | undefined;
	/** Resolves to whether the setup is over: some were started, or the dialog was left meanwhile. */
	start: (choice: ConversionChoice) => Promise<boolean>;
	/** Tries those again that could not be started, if there are any beside others that could. */
	startOthers: (() => Promise<void>) | undefined;
	/** Ends those that wait or run, and those that are being started. */
	cancel: () => Promise<void>;
	/** The dialog is being closed. What goes on is followed without it. */
	leave: () => void;
}

export interface ConversionsOptions {
	area: Area;
	videos: readonly Entry[];
	/** Called with each new file while the dialog is open. */
	onConverted: (outputPaths: readonly string[]) => void;
	/** The dialog was closed before these have ended. */
	onContinue: (left: LeftConversions) => void;
}

/** Starts the conversions of these videos and polls them while the dialog is open. */
export function useConversions({ area, videos, onConverted, onContinue }: ConversionsOptions): Conversions {
	const queryClient = useQueryClient();
	const run = useConversionRun(area, videos, onContinue);
	const state = useSyncExternalStore(run.subscribe, run.state);
	const { started, notStarted, isStarting, isLeft, startProblem, cancelProblem } = state;
	const conversions = useStatuses(state);
	useConverted(isLeft ? [] : outputPaths(conversions), onConverted);
	const unended = conversions.filter(({ hasEnded }) => !hasEnded).map(({ id }) => id);
	const latest = useLatest(unended);
	useEffect(() => {
		run.enter();
		return () => run.leave(latest.current);
	}, [run]);

	return {
		state: overallState(conversions, notStarted.length),
		conversions,
		isStarting,
		startProblem,
		cancelProblem,
		start: (choice) => run.start(choice),
		startOthers: started.length > 0 && notStarted.length > 0 && !isStarting ? () => run.startOthers() : undefined,
		async cancel() {
			const ids = conversions.filter((each) => isActive(each) && !each.isCancelling).map(({ id }) => id);
			await run.cancel(ids);
			// One may have ended in another way before.
			for (const id of ids) void queryClient.invalidateQueries({ queryKey: queryKeys.conversion(id) });
		},
		leave: () => run.leave(unended),
	};
}

function useConversionRun(
	area: Area,
	videos: readonly Entry[],
	onContinue: (left: LeftConversions) => void,
): ConversionRun {
	const queryClient = useQueryClient();
	const { notify } = useNotify();
	const { openActivity } = useFrame();
	const latest = useLatest(onContinue);
	const [run] = useState(() => {
		const username = signedInAs(queryClient);
		return new ConversionRun(area, videos, {
			notify(notice) {
				if (isReplaced(queryClient, username)) return;
				notify({ ...notice, action: { text: messages.activity, onClick: openActivity } });
			},
			follow: (ids) => latest.current({ ids, username }),
		});
	});
	return run;
}

/** The conversions with the states that the server has reported last. */
function useStatuses({ started, cancellations, isLeft }: ConversionsState): Conversion[] {
	const polls = useQueries({
		queries: started.map(({ id }) => ({
			queryKey: queryKeys.conversion(id),
			queryFn: ({ signal }: { signal: AbortSignal }) => fetchConversion(id, signal),
			// They are followed elsewhere then.
			enabled: !isLeft,
			// A hidden tab polls too, so that the folder is refreshed when it is shown again.
			refetchIntervalInBackground: true,
			refetchInterval: (query: { state: { data?: Pick<Conversion, 'status'> | undefined; error: Error | null } }) => {
				const { data, error } = query.state;
				return isFailure(error, 'notFound') || (data && !isActive(data)) ? (false as const) : pollMs;
			},
			gcTime: 0,
			retry: false,
		})),
	});
	return started.map((conversion, index) => {
		const { data, error } = polls[index] ?? {};
		if (isFailure(error, 'notFound')) {
			return { ...conversion, status: 'failed' as const, error: messages.unknown, hasEnded: true };
		}
		return withStatus(conversion, data, cancellations.get(conversion.id));
	});
}

/** Calls back when there is a further new file. */
function useConverted(outputs: readonly string[], onConverted: (outputPaths: readonly string[]) => void): void {
	const latest = useLatest({ outputs, onConverted });
	const count = outputs.length;
	useEffect(() => {
		if (count > 0) latest.current.onConverted(latest.current.outputs);
	}, [count]);
}
