/** The folder of a run in single mode: a new one, or one that there is something to go on with in. */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { Failure } from '../../domain/failure.ts';
import { createRunId, isRunId, nextRunId } from '../../domain/run-id.ts';
import {
  listSingleFolders,
  readSingleRecord,
  singleFolder,
  type SingleRecord,
} from '../../local/single-record.ts';

export interface PlaceRequest {
  readonly home: string;
  readonly scraper: string;
  /** The folder, where the user names one. */
  readonly data: string | undefined;
  readonly run: string | undefined;
  /** Of a new run. */
  readonly dropTracking: boolean;
}

export interface SinglePlace {
  readonly folder: string;
  readonly record: SingleRecord;
}

export function planNewRun(request: PlaceRequest, list: string): SinglePlace {
  const { home, scraper, data, run: named, dropTracking } = request;
  if (named !== undefined && !isRunId(named))
    throw new Failure('INVALID', `--run-id must be 1 to 64 letters, digits, _ or -, not ${named}`);
  const now = Date.now();
  const run = named ?? freeRunId(home, now);
  const folder = data === undefined ? singleFolder(resolve(home), run) : resolve(data);
  const there = readSingleRecord(folder);
  if (there && there.ended === undefined)
    throw new Failure('CONFLICT', `run ${there.run} in ${folder} has not ended`, {
      hint: `Go on with it: ${resumeCommand({ folder, record: there }, data)}`,
    });
  if (there?.run === run)
    throw new Failure('CONFLICT', `run ${run} has ended (${there.ended ?? ''})`, {
      hint: 'A new run needs a name of its own.',
    });
  const urlsFile = list === '-' ? null : resolve(list);
  const record = { version: 1, run, scraper, createdAt: now, urlsFile } as const;
  return { folder, record: dropTracking ? { ...record, dropTracking } : record };
}

/** Without a name, the newest run of this scraper that has not ended. */
export function findRunToResume(request: PlaceRequest): SinglePlace {
  const place = data(request) ?? named(request) ?? newest(request);
  const { record } = place;
  if (record.scraper === request.scraper && (request.run ?? record.run) === record.run) return place;
  throw new Failure(
    'INVALID',
    `${place.folder} holds run ${record.run} of ${record.scraper}, which is another one`,
    { hint: `Go on with it: ${resumeCommand(place, request.data)}` },
  );
}

function data({ data: folder }: PlaceRequest): SinglePlace | undefined {
  return folder === undefined ? undefined : requirePlace(resolve(folder));
}

function named({ home, run }: PlaceRequest): SinglePlace | undefined {
  return run === undefined ? undefined : requirePlace(singleFolder(resolve(home), run));
}

function requirePlace(folder: string): SinglePlace {
  const record = readSingleRecord(folder);
  if (record) return { folder, record };
  throw new Failure('INVALID', `there is no run in ${folder}`, {
    hint: 'Name the run as it was when it began, and the same --data or --home.',
  });
}

function newest({ home, scraper }: PlaceRequest): SinglePlace {
  const place = listSingleFolders(resolve(home)).find(
    ({ record }) => record.scraper === scraper && record.ended === undefined,
  );
  if (place) return place;
  throw new Failure('INVALID', `there is no run of ${scraper} to go on with in ${singleFolder(home, '')}`, {
    hint: `Begin one: trawl run ${scraper} --urls-file FILE`,
  });
}

export function resumeCommand({ record }: SinglePlace, data: string | undefined): string {
  return `npx trawl run ${record.scraper} --resume ${data === undefined ? record.run : `--data ${data}`}`;
}

function freeRunId(home: string, now: number): string {
  const first = createRunId(now);
  let run = first;
  for (let n = 2; existsSync(singleFolder(resolve(home), run)); n += 1) run = nextRunId(first, n);
  return run;
}
