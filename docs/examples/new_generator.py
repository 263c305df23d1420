"""A generator that samples in a thread while environments are at work."""

from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait

import torch
from transformers import AutoModelForCausalLM

import agentgym_train as train


class Background(train.Generator):
    in_background = True

    def __init__(self, options, context):
        model = AutoModelForCausalLM.from_pretrained(context.model_folder)
        self.model, self.version = model.to(context.device, context.dtype), 0

    def load(self, weights, version):
        train.take_over(self.model, weights)
        self.version = version

    def session(self, seeds, sampling):
        return Rows(self, seeds, sampling)


class Rows(train.GeneratorSession):
    def __init__(self, generator, seeds, sampling):
        self.generator, self.seeds, self.sampling = generator, seeds, sampling
        self.history, self.turn = [[] for _ in seeds], [0 for _ in seeds]
        self.thread, self.jobs = ThreadPoolExecutor(1), {}

    def submit(self, row, ids):
        self.history[row] += ids
        self.jobs[self.thread.submit(self.sample, row)] = row

    def poll(self, timeout=None):
        done, _ = wait(self.jobs, timeout, return_when=FIRST_COMPLETED)
        return {self.jobs.pop(job): job.result() for job in done}

    def restart(self, row):
        self.history[row], self.turn[row] = [], 0

    def rewind(self, row, length):
        train.cut_back(self.history[row], row=row, length=length)

    def close(self):
        self.thread.shutdown(cancel_futures=True)

    @torch.inference_mode()
    def sample(self, row):
        model, rules, ids, logps = self.generator.model, self.sampling, [], []
        while len(ids) < rules.max_new_tokens and not rules.stop_ids & {*ids}:
            row_1T = torch.tensor([self.history[row] + ids]).to(model.device)
            logit_1V = model(row_1T).logits[:, -1]
            point = train.noise(self.seeds[row], self.turn[row], len(ids))
            new = train.choose(logit_1V, [point], temperature=rules.temperature)
            ids, logps = ids + new[0], logps + new[1]
        self.history[row] += ids
        self.turn[row] += 1
        return train.ActionSample(ids, logps, self.generator.version)
