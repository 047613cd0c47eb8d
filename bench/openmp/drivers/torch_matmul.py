# SPDX-License-Identifier: MIT
"""PyTorch: small products, sums of elements, and a step of training a small network."""

import torch
from cases import bits_of, measure, print_runtime, threads

torch.set_num_threads(threads())
torch.manual_seed(1)


def bits(tensor):
    return bits_of(tensor.detach().numpy())


for size in (32, 64, 128, 256):
    a, b = torch.rand(size, size), torch.rand(size, size)
    measure(f"matmul {size}", 40 if size == 256 else 200, lambda: a @ b, bits)
a = torch.rand(512, 512)
measure("exp of 512 x 512", 40, lambda: torch.exp(a), bits)
measure("softmax of 512 x 512", 40, lambda: torch.softmax(a, 1), bits)
measure("sum of 512 x 512", 40, lambda: a.sum(1), bits)

net = torch.nn.Sequential(torch.nn.Linear(128, 128), torch.nn.ReLU(), torch.nn.Linear(128, 8))
x, y = torch.rand(64, 128), torch.rand(64, 8)
step = torch.optim.SGD(net.parameters(), lr=0.01)


def train():
    step.zero_grad()
    loss = ((net(x) - y) ** 2).mean()
    loss.backward()
    step.step()
    return net[0].weight


measure("training step", 60, train, bits)
print_runtime()
